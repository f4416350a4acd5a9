#!/bin/bash
# screenshots.sh: takes the pictures of docs/images anew, from the pages that the browser tests open. Look at each before you
# commit it. Needs what the browser tests need, and pngquant.
. "$(dirname "$0")/common.sh"
command -v pngquant >/dev/null ||
  fail 4 "pngquant is not there" "the pictures are kept small with it" "apt-get install pngquant"
tools/have.sh build/bin/labrig-report-pages

tests/browser/run.sh screenshots.mjs build/browser build/bin/labrig-report-pages build/bin/labrig-handout
mkdir -p docs/images
for picture in build/browser/screenshots/*.png; do
  pngquant --force --strip --speed 1 64 --output "docs/images/$(basename "$picture")" "$picture"
done
ls -l docs/images
