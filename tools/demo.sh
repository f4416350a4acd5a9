#!/usr/bin/env bash
# Grades everything that ships with the labs (solution, starter, alternates, flawed variants) and makes the class report
# build/demo/index.html. Fails when one of them does not come out as its table says.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
labrig=$build/bin/labrig
out=$build/demo
rm -rf "$out"

for plugins in "$build"/plugins/*/; do
  lab=$(basename "$plugins")
  [ -d "$build/labs/$lab" ] || continue
  echo "== $lab"
  for plugin in "$plugins"*.labrig.so; do
    name=$(basename "$plugin" .labrig.so)
    code=0
    "$labrig" --quiet grade "$plugin" --lab "$lab" --out "$out/$lab/$name" || code=$?
    # Below the pass mark (1) is what most of them are for, and to be refused (3) what some are; anything else is a failure.
    if [ "$code" -gt 1 ] && [ "$code" -ne 3 ]; then
      echo "demo: grading $lab/$name ended with exit code $code" >&2
      exit "$code"
    fi
  done
done
"$labrig" report index "$out" --expected plugins/flawed --title "labrig: the shipped submissions"
