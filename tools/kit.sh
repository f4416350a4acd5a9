#!/bin/bash
# kit.sh: what a course hands out and uploads, from this build: build/kit/student and build/kit/autograder.zip. LAB="ID ID": these
# labs (default: all); SECRET=FILE: the course's secret, for the autograder.
. "$(dirname "$0")/common.sh"
[ -x build/bin/labrig ] || fail 4 "build/bin/labrig is not there" "kits are made from a whole build" "make build"
labs=()
for lab in ${LAB:-}; do labs+=(--lab "$lab"); done
secret=()
[ -z "${SECRET:-}" ] || secret=(--secret-file "$SECRET")
rm -rf build/kit
mkdir -p build/kit
build/bin/labrig kit student --out build/kit/student "${labs[@]}"
build/bin/labrig kit gradescope --out build/kit/autograder.zip "${labs[@]}" "${secret[@]}"
say "kit: build/kit/student, build/kit/autograder.zip; docs/ci.md says what to do with them"
