#!/bin/bash
# device.sh [BUNDLE]: what only a real card can show, from a bundle (make bundle), on a machine that needs neither compiler nor
# build: the contract tests and the kernel tests on cuda:0, then both under compute-sanitizer's memcheck and racecheck, and the
# tables of `labrig bench`. Ends with a table. Exit code 0 when all stages passed, 4 when there is no card.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bundle=${1:-$([ -e "$here/../lib/liblabrig-core.so" ] && echo "$here/.." || echo "$here/../build/bundle")}
fail() {
  printf 'error: %s\n  why: %s\n  fix: %s\n' "$2" "$3" "$4" >&2
  exit "$1"
}
[ -e "$bundle/lib/liblabrig-core.so" ] || fail 4 "there is no bundle at $bundle" "this verb runs programs from a bundle" "make bundle, here or on another machine"
[ -e "$bundle/lib/liblabrig-cuda.so" ] || fail 4 "the bundle has no cuda backend" "it was built without CUDA" "build with LABRIG_CUDA=ON, then make bundle"
bundle=$(cd "$bundle" && pwd)

# The CUDA libraries, where the dynamic linker does not find them by itself.
for name in $(ldd "$bundle/lib/liblabrig-cuda.so" | awk '/not found/ { print $1 }' | grep -E 'cudart|cublas'); do
  found=$(find /usr/local/cuda* /usr/lib /opt -name "$name" 2>/dev/null | head -1)
  [ -n "$found" ] && export LD_LIBRARY_PATH="$(dirname "$found")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done

if reason=$("$bundle/tests/labrig-device-test" --gtest_filter='*FillAndArange*' 2>&1) && grep -q SKIPPED <<<"$reason"; then
  fail 4 "there is no card to test" "$(sed -n 's/^  why: //p' <<<"$reason" | head -1)" "$(sed -n 's/^  fix: //p' <<<"$reason" | head -1)"
fi
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null
log=${OUT:-${TMPDIR:-/tmp}}/labrig-device.log
: >"$log"
rows=()
status=0

# stage NAME SECONDS PROGRAM [PREFIX...]: one program; the row says how many of its tests passed, failed and were skipped.
stage() {
  local name=$1 seconds=$2 program=$3 start=$SECONDS out code passed failed skipped verdict
  shift 3
  # Under the sanitizer an allocation that is refused on purpose counts as an error of the program.
  local filter='*/cuda:CardKernels.*'
  [ "$name" = plain ] || filter+=':-*RefusesWhatTheCardHasNoRoomFor*'
  # These keep the card busy with large products, which racecheck would make hours of; other suites run the same kernels.
  [ "$name" = racecheck ] && filter+=':*Order.*'
  out=$(timeout "$seconds" "$@" "$bundle/tests/$program" --gtest_filter="$filter" --gtest_brief=1 2>&1)
  code=$?
  printf '\n== %s: %s (exit %s)\n%s\n' "$name" "$program" "$code" "$out" >>"$log"
  count() { printf '%s\n' "$out" | sed -n "s/^\[  $1  *\] \([0-9]*\) tests\?.*/\1/p" | head -1; }
  passed=$(count PASSED) failed=$(count FAILED) skipped=$(count SKIPPED)
  verdict=ok
  if [ "$code" -ne 0 ]; then
    verdict=FAILED
    [ "$code" -eq 124 ] && verdict="FAILED: over $seconds s"
    printf '%s\n' "$out" | grep -vE '^(Running main|Note: )' | tail -40
  elif [ "${passed:-0}" -eq 0 ]; then
    verdict="FAILED: nothing ran"
    printf '%s\n' "$out" | tail -5
  fi
  [ "$verdict" = ok ] || status=1
  rows+=("$(printf '%-10s %-26s %6s %6s %7s %5s s  %s' "$name" "$program" "${passed:-0}" "${failed:-0}" "${skipped:-0}" $((SECONDS - start)) "$verdict")")
}

mapfile -t programs < <(cd "$bundle/tests" && ls | grep -v '\.sh$')
[ ${#programs[@]} -gt 0 ] || fail 4 "the bundle has no tests" "it was made without them" "make build, make bundle"
for program in "${programs[@]}"; do stage plain 240 "$program"; done

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [ -z "$sanitizer" ]; then
  rows+=("$(printf '%-10s %s' sanitizer "FAILED: compute-sanitizer is not on this machine")")
  status=1
else
  for tool in memcheck racecheck; do
    for program in "${programs[@]}"; do
      LABRIG_TEST_CALLS=25 stage $tool 240 "$program" "$sanitizer" --tool $tool --error-exitcode 9
    done
  done
fi

# What the card really costs, beside what the simulated one of its kind says.
for table in crossover copies; do
  start=$SECONDS verdict=ok
  printf '\n'
  if ! timeout 240 "$bundle/bin/labrig" bench "$table" --device cuda:0 2>&1 | tee -a "$log"; then
    verdict=FAILED
    status=1
  fi
  rows+=("$(printf '%-10s %-26s %6s %6s %7s %5s s  %s' bench "labrig bench $table" - - - $((SECONDS - start)) "$verdict")")
done

printf '\n%-10s %-26s %6s %6s %7s %7s\n' stage program passed failed skipped time
printf '%s\n' "${rows[@]}"
echo "log: $log"
exit $status
