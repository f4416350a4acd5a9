#!/bin/bash
# test.sh [--full]: every test, in stages. Stops at the first stage that fails. The last line is CTest's closing line of the
# last stage that ran; the lines above it list all stages.
#
#   release       everything in build/, all tests
#   asan          unit and contract tests under the address and undefined-behaviour sanitizers, without the cuda backend; and
#                 libFuzzer on the command ring, on profiles and on checkpoints, 20,000 inputs each
#   tsan          those of the simulated card and of training on it, which have threads, under the thread sanitizer
#   determinism   the same bits from the first build, g++ -O3, and from the second, clang++ -O1 with its sanitizers, in both homes
#                 of the card, on a busy machine
#
# clang++ compiles the second of these in half the time of g++. Where there is none, g++ does it; then the fuzzers replay their
# corpus.
#
# --full: both kits are also used in an empty Debian (tests/kits/empty_root.sh); the labs are graded with thirty fresh course
# secrets instead of one (LABRIG_TEST_SECRETS), and one submission twenty times on a busy machine instead of six
# (LABRIG_TEST_FULL); the thread sanitizer also sees core-test, whose threads are joined at once.
. "$(dirname "$0")/common.sh"
[ "${1:-}" = --full ] && export LABRIG_TEST_SECRETS=30 LABRIG_TEST_FULL=1

summary=()
closing=""

finish() {
  echo
  say "stages"
  printf '   %s\n' "${summary[@]}"
  printf '%s\n' "$closing" | tee build/closing-line
}

# run_tests STAGE FOLDER [COMMAND PREFIX...] -- [CTEST OPTION...]: one test more at a time than there are processors, as some wait.
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
  "${prefix[@]}" ctest --test-dir "$folder" -j "$(($(jobs) + 1))" --output-on-failure --no-tests=error "$@" </dev/null 2>&1 | tee "$log" ||
    status=$?
  closing=$(grep -E '^[0-9]+% tests passed' "$log" | tail -1 || true)
  closing=${closing:-"0% tests passed: $stage ran no test"}
  summary+=("$(printf '%-11s %4d s  %s' "$stage" $((SECONDS - start)) "$closing")")
  if [ "$status" -ne 0 ]; then
    finish
    exit "$status"
  fi
}

# build_programs FOLDER TARGET...: just the programs of some tests and what they need.
build_programs() {
  say "build: $1"
  cmake --build "$1" -j "$(jobs)" --target "${@:2}"
}

# The preset. clang alone does not say that its libFuzzer is there.
sanitized=asan
if clang++-19 -fsanitize=fuzzer,address -x c++ -o /dev/null - 2>/dev/null \
  <<<'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'; then
  sanitized=fuzz
fi

rm -f build/closing-line
tools/build.sh release
run_tests release build --

if [ -n "${LABRIG_TEST_FULL:-}" ]; then
  say "test: kits in an empty system"
  start=$SECONDS status=0
  tests/kits/empty_root.sh build . || status=$?
  case $status in
    0) summary+=("$(printf '%-11s %4d s  both came to a score' kits $((SECONDS - start)))") ;;
    77) summary+=("kits: left out, see above") ;;
    *)
      closing="0% tests passed: kits: one did not come to a score in an empty system"
      summary+=("kits: FAILED")
      finish
      exit 1
      ;;
  esac
fi

configure "$sanitized"
build_programs "build-$sanitized" unit-and-contract-tests fuzzers determinism-digest
run_tests asan "build-$sanitized" -- -L '^(unit|contract|fuzz)$'

configure tsan
threaded=threaded-tests
[ -z "${LABRIG_TEST_FULL:-}" ] || threaded=core-tests
build_programs build-tsan "$threaded"
# The thread sanitizer knows few addresses; randomised ones may leave no gap there for the memory of a large card.
fixed_layout=()
if setarch -R true 2>/dev/null; then fixed_layout=(setarch -R); fi
# Nor does it see how the threads of OpenBLAS, which is not built with it, wait for each other.
# Only what was built: tests are called like their programs there.
built=$(ls build-tsan/bin | paste -sd'|')
run_tests tsan build-tsan env LABRIG_CPU_THREADS=1 "${fixed_layout[@]}" -- -L '^(unit|contract)$' -R "^($built)$"

builds=(build "build-$sanitized")
say "test: determinism"
start=$SECONDS
if tests/determinism/compare.sh "${builds[@]}"; then
  summary+=("$(printf '%-11s %4d s  %d builds, the same bits' determinism $((SECONDS - start)) ${#builds[@]})")
  finish
else
  closing="0% tests passed: determinism: two builds do not report the same"
  summary+=("determinism: FAILED")
  finish
  exit 1
fi
