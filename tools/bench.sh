#!/bin/bash
# bench.sh: what the core and the simulated card cost in real time, medians of five runs. A round trip across processes comes
# twice: both sides asleep, and both sides spinning.
. "$(dirname "$0")/common.sh"
bench=build/bin/labrig-bench
tools/have.sh "$bench" "there are no benchmarks yet"
options=(--benchmark_repetitions=5 --benchmark_report_aggregates_only=true --benchmark_min_time=0.1)
median() { grep -E '^(Benchmark|-)|_median' | sed 's/_median / /'; }

say "bench: this machine has $(jobs) processors"
"$bench" "${options[@]}" --benchmark_filter='-across_processes' 2>/dev/null | median
for way in "sleeping 0" "spinning 100000"; do
  read -r name spin <<<"$way"
  say "bench: a synchronisation across processes, $name"
  LABRIG_SIM_SPIN=$spin "$bench" "${options[@]}" --benchmark_filter=across_processes 2>/dev/null | median
done
