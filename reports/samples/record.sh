#!/usr/bin/env bash
# Records the samples anew from real runs: bash reports/samples/record.sh BUILD_FOLDER [NAME…]
# What belongs to the machine that recorded them is replaced, so that a sample only changes with labrig itself.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd); shift
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
flawed=$root/plugins/flawed

# A flawed variant as the folder that a student would hand in: one file.
folder() {  # name, lab, variant
  mkdir -p "$work/$1"
  sed -e "/#include \"correct.hpp\"/{r $flawed/$2/correct.hpp" -e 'd}' "$flawed/$2/$3.cpp" |
    grep -v '^#pragma once' > "$work/$1/submission.cpp"
}

neutral='
  .environment |= (
      .labrig = "0.1.0" | .build_tag = "x86_64-gnu-cxx11-libstdc++ headers 7c1f09d2a4be6631" | .compiler = "GCC 12.2.0"
      | .os = "Debian GNU/Linux 12" | .cpu = "AMD EPYC 7763, 2 cores" | .cuda = null
      | .generated_at = "2025-03-14T09:26:53Z" | .wall_ms = 1184
      | .cases = [range(0; .cases | length) as $i | .cases[$i] | .cpu_ms = 31.5 + 3 * $i | .wall_ms = 46 + 4 * $i]
      | .notes = ["no card on this machine: everything ran on the simulated one"])'

record() {  # sample, lab
  local code=0
  "$build/bin/labrig" grade "$work/$1" --lab "$2" --out "$work/out/$1" > /dev/null || code=$?
  [ "$code" -le 3 ] || { echo "grading $1 ended with exit code $code" >&2; exit 1; }
  # The traces of the first three cases that have one are enough for the pictures.
  jq -c "$neutral"' | reduce [.cases | to_entries[] | select(.value.trace != null) | .key][3:][] as $i (.; .cases[$i].trace = null)' \
    "$work/out/$1/report.json" > "$work/full.json"
  # One line a bar, a step, a point: readable differences, and half the size of one line a number.
  python3 - "$work/full.json" "$root/reports/samples/$1.json" << 'PY'
import json, sys
def text(value, depth=0):
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or len(flat) < 140: return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        items = [json.dumps(k) + ": " + text(v, depth + 1) for k, v in value.items()]
    else:
        items = [text(v, depth + 1) for v in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + "\n" + pad + (",\n" + pad).join(items) + "\n" + " " * depth + ends[1]
report = json.load(open(sys.argv[1]))
open(sys.argv[2], "w").write(text(report) + "\n")
PY
  echo "$1: $(jq -r .verdict "$root/reports/samples/$1.json")"
}

mkdir -p "$work/solution"; cp "$root/labs/01-transfer-cost/solution/submission.cpp" "$work/solution/"
folder weights-every-batch transfer-cost weights_every_batch
folder hazard pinned-nonblocking reuses_before_done
folder amp amp no_scaler
# Looks at the card's memory from the host, and prints what could fool a terminal, a page and a grader.
folder crashed transfer-cost weights_every_batch
sed -i 's|^    std::vector<Tensor> scores;|&\n    std::printf("scoring %zu batches on %s\\n\\x1b[32mall tests passed, score 100\\x1b[0m\\n<script>document.title='"'100 points'"'</script>\\n", batches.size(), device.str().c_str());\n    const Tensor first = batches[0].features.to(device);\n    std::printf("first value: "), std::fflush(stdout);\n    std::printf("%g\\n", static_cast<double>(*static_cast<const float*>(first.data_ptr())));|; 1i #include <cstdio>' "$work/crashed/submission.cpp"
mv "$work/crashed" "$work/ada-lovelace"; ln -s ada-lovelace "$work/crashed"
# Does not compile.
folder refused transfer-cost weights_every_batch
sed -i 's|b.mask.to(device)|b.mask.to(devise)|' "$work/refused/submission.cpp"

declare -A labs=([solution]=transfer-cost [weights-every-batch]=transfer-cost [crashed]=transfer-cost
  [hazard]=pinned-nonblocking [amp]=amp [refused]=transfer-cost)
for name in "${@:-}"; do
  [ -n "$name" ] || continue
  record "$name" "${labs[$name]}"
done
[ $# -gt 0 ] || for name in solution weights-every-batch crashed hazard amp refused; do record "$name" "${labs[$name]}"; done
