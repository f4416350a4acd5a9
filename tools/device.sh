#!/bin/bash
# device.sh [BUNDLE]: what only a real card can show, from a bundle (make bundle), on a machine that needs neither compiler nor
# build, in less than eight minutes: the tests of every operator and kernel on cuda:0; `labrig conform` and `labrig doctor` on cuda:0; checkpoints
# against Python's safetensors, where that is there; the values of every lab's reference solution; the tests again under
# compute-sanitizer's memcheck and racecheck; and the tables of `labrig bench`. Ends with a table. Exit code 0 when all stages
# passed, 4 when there is no card.
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

# row STAGE WHAT PASSED FAILED SKIPPED SECONDS VERDICT: one line of the table at the end; a verdict other than ok fails the run.
row() {
  [ "$7" = ok ] || status=1
  rows+=("$(printf '%-10s %-26s %6s %6s %7s %5s s  %s' "$@")")
}

# tests STAGE SECONDS FILTER PROGRAM [PREFIX...]: the tests of one program that the filter chooses.
tests() {
  local stage=$1 seconds=$2 filter=$3 program=$4 start=$SECONDS out code passed failed skipped verdict=ok
  shift 4
  out=$(timeout "$seconds" "$@" "$bundle/tests/$program" --gtest_filter="$filter" --gtest_brief=1 2>&1)
  code=$?
  printf '\n== %s: %s (exit %s)\n%s\n' "$stage" "$program" "$code" "$out" >>"$log"
  count() { printf '%s\n' "$out" | sed -n "s/^\[  $1  *\] \([0-9]*\) tests\?.*/\1/p" | head -1; }
  passed=$(count PASSED) skipped=$(count SKIPPED)
  failed=$(grep -c '^\[  FAILED  \] .* ms)$' <<<"$out")
  if [ "$code" -ne 0 ]; then
    verdict=FAILED
    [ "$code" -eq 124 ] && verdict="FAILED: over $seconds s"
    printf '%s\n' "$out" | grep -vE '^(Running main|Note: )' | tail -40
  elif [ "${passed:-0}" -eq 0 ] && [ "$stage" != python ]; then
    verdict="FAILED: nothing ran"
    printf '%s\n' "$out" | tail -5
  fi
  row "$stage" "$program" "${passed:-0}" "${failed:-0}" "${skipped:-0}" $((SECONDS - start)) "$verdict"
}

# What runs on the card: contract and training tests name the device last, tests of kernels begin with Card.
on_card='*/cuda:Card*'
for path in "$bundle"/tests/{contract-test,labrig-device-test} "$bundle"/tests/training-contract-test; do
  program=$(basename "$path")
  "$path" --gtest_filter="$on_card" --gtest_list_tests 2>/dev/null | grep -q '^  ' || continue
  tests plain 240 "$on_card" "$program"
done
tests python 60 '*ThePythonPackage*' nn-test

for recording in operators optimizers grad_scaler autocast errors; do
  start=$SECONDS verdict=ok
  out=$(timeout 120 "$bundle/bin/labrig" conform "$recording" "$bundle/tests/golden/$recording.json.gz" --device cuda:0 2>&1) ||
    { verdict=FAILED && printf '%s\n' "$out" | tail -20; }
  printf '\n== conform %s\n%s\n' "$recording" "$out" >>"$log"
  row conform "$recording" - - - $((SECONDS - start)) "$verdict"
done

# What `labrig doctor` says of the card. Its exit code is that of the whole machine, which here needs no compiler.
start=$SECONDS
out=$(timeout 120 "$bundle/bin/labrig" doctor --device cuda:0 2>&1)
printf '\n== doctor\n%s\n' "$out" >>"$log"
for check in card cuda-versions card-memory placement device; do
  verdict=ok
  grep -q "^ok  *$check " <<<"$out" || { verdict=FAILED && grep -A6 "^[a-z]*  *$check " <<<"$out"; }
  row doctor "$check" - - - $((SECONDS - start)) "$verdict"
done
grep "^ok  *card" <<<"$out"

# Every lab's reference solution: whether its values are right on the card. Scenarios that a real card cannot pose (costs alone,
# more cards than there are) are skipped; the log says which and why.
for folder in "$bundle"/labs/*/; do
  lab=$(basename "$folder")
  plugin=$bundle/plugins/$lab/solution.labrig.so
  [ -e "$plugin" ] || continue
  start=$SECONDS verdict=ok
  out=$(timeout 120 "$bundle/bin/labrig" check "$plugin" --lab "$lab" --device cuda:0 2>&1) || verdict=FAILED
  [ $verdict = ok ] || printf '%s\n' "$out" | grep -A3 ': wrong\|^error' | head -40
  printf '\n== lab %s\n%s\n' "$lab" "$out" >>"$log"
  sum() { printf '%s\n' "$out" | sed -n "s/^values on .*[:,] \([0-9]*\) $1.*/\1/p"; }
  row lab "$lab" "$(sum right)" "$(sum wrong)" "$(sum skipped)" $((SECONDS - start)) "$verdict"
done

# Under a sanitizer an allocation that is refused on purpose counts as an error of the program, and so does a fault that is
# made on purpose. Racecheck would make hours of the tests with large products, and of those that keep the card busy; others run the
# same kernels.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [ -z "$sanitizer" ]; then
  row sanitizer compute-sanitizer - - - 0 "FAILED: it is not on this machine"
else
  without='*RefusesWhatTheCardHasNoRoomFor*:CardFaults*'
  for tool in memcheck racecheck; do
    [ $tool = racecheck ] && without+=':*Order.*:*KeepTheirDigits*'
    for program in contract-test labrig-device-test; do
      LABRIG_TEST_CALLS=10 tests $tool 240 "$on_card:-$without" $program "$sanitizer" --tool $tool --error-exitcode 9
    done
  done
fi

# What the card really costs, beside what the simulated one of its kind says.
for table in crossover copies; do
  start=$SECONDS verdict=ok
  printf '\n'
  timeout 240 "$bundle/bin/labrig" bench "$table" --device cuda:0 2>&1 | tee -a "$log" || verdict=FAILED
  row bench "labrig bench $table" - - - $((SECONDS - start)) "$verdict"
done

printf '\n%-10s %-26s %6s %6s %7s %7s\n' stage program passed failed skipped time
printf '%s\n' "${rows[@]}"
echo "log: $log"
exit $status
