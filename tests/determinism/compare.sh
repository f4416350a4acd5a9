#!/bin/bash
# compare.sh BUILD [OTHER BUILD...]: everything that the simulated card reports for a fixed set of programs must be the same to
# the bit in both homes of the card, on a busy machine, and in all builds named. Prints the first difference and fails.
set -euo pipefail
out=$(mktemp -d)
hogs=()
cleanup() {
  [ ${#hogs[@]} -eq 0 ] || kill "${hogs[@]}" 2>/dev/null || true
  rm -rf "$out"
}
trap cleanup EXIT

count=0
# run NAME BUILD HOME: one output; it must be that of the first.
run() {
  local words=(thread)
  [ "$3" = process ] && words=(process "$2/bin/labrig-device")
  "$2/bin/determinism-digest" "${words[@]}" >"$out/now"
  if [ ! -e "$out/first" ]; then
    mv "$out/now" "$out/first"
    echo "$1: $(wc -l <"$out/first") lines"
  elif diff -u --label first --label "$1" "$out/first" "$out/now" >"$out/diff"; then
    echo "$1: the same"
  else
    head -40 "$out/diff"
    echo "$1: differs"
    exit 1
  fi
  count=$((count + 1))
}

for build in "$@"; do
  run "$build, thread" "$build" thread
  run "$build, process" "$build" process
done
for _ in 1 2; do
  (while :; do :; done) &
  hogs+=($!)
done
run "$1, thread, busy" "$1" thread
run "$1, process, busy" "$1" process
echo "determinism: $count outputs, all the same"
