#!/bin/bash
# test.sh [--full]: every test, in stages. Stops at the first stage that fails. The last line is CTest's closing line of the
# last stage that ran; the lines above it list all stages.
#
#   release   everything in build/, all tests
#   no CUDA   unit and contract tests of the core in a build without the cuda backend (only where build/ has it)
#   asan      unit and contract tests under the address and undefined-behaviour sanitizers
#   tsan      unit and contract tests under the thread sanitizer
#
# --full: the labs are graded with thirty fresh course secrets instead of three (LABRIG_TEST_SECRETS).
. "$(dirname "$0")/common.sh"
[ "${1:-}" = --full ] && export LABRIG_TEST_SECRETS=30

summary=()
closing=""

finish() {
  echo
  say "stages"
  printf '   %s\n' "${summary[@]}"
  printf '%s\n' "$closing" | tee build/closing-line
}

# run_tests STAGE FOLDER [COMMAND PREFIX...] -- [CTEST OPTION...]
run_tests() {
  local stage=$1 folder=$2 log status=0 start=$SECONDS prefix=()
  shift 2
  while [ "$1" != -- ]; do
    prefix+=("$1")
    shift
  done
  shift
  log=$folder/ctest.log
  say "test: $stage"
  "${prefix[@]}" ctest --test-dir "$folder" -j "$(jobs)" --output-on-failure --no-tests=error "$@" </dev/null 2>&1 | tee "$log" ||
    status=$?
  closing=$(grep -E '^[0-9]+% tests passed' "$log" | tail -1 || true)
  closing=${closing:-"0% tests passed: $stage ran no test"}
  summary+=("$(printf '%-8s %4d s  %s' "$stage" $((SECONDS - start)) "$closing")")
  if [ "$status" -ne 0 ]; then
    finish
    exit "$status"
  fi
}

only_unit_and_contract=(-L '^(unit|contract)$')

# build_programs FOLDER TARGET: just the programs of some tests and what they need.
build_programs() {
  say "build: $1"
  cmake --build "$1" -j "$(jobs)" --target "$2"
}

rm -f build/closing-line
tools/build.sh release
run_tests release build --

if grep -q liblabrig-cuda.so build/build.ninja; then
  configure release -B build-nocuda -DLABRIG_CUDA=OFF
  build_programs build-nocuda core-tests
  run_tests "no CUDA" build-nocuda -- "${only_unit_and_contract[@]}"
fi

configure asan
build_programs build-asan unit-and-contract-tests
run_tests asan build-asan -- "${only_unit_and_contract[@]}"

configure tsan
build_programs build-tsan unit-and-contract-tests
# The thread sanitizer of GCC 12 does not know the address layout of kernels that randomise more than 28 bits.
fixed_layout=()
if [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -gt 28 ] && setarch -R true 2>/dev/null; then
  fixed_layout=(setarch -R)
fi
run_tests tsan build-tsan "${fixed_layout[@]}" -- "${only_unit_and_contract[@]}"

finish
