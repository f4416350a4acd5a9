// A history that somebody really had: readings of allocated memory from FAIR-Chem/fairchem, pull request 199, before
// the evaluation ran under no_grad. Nothing else was recorded, so the other figures are 0.
#pragma once

#include <cmath>

#include "labrig/history.hpp"

namespace oom_triage {

inline labrig::MemoryHistory fairchem_history() {
  constexpr double kTrain[] = {3324.904448, 4519.053312, 2300.791808, 2240.774144, 4299.392,
                               3382.70976,  4030.028288, 4143.101952, 3183.919616};
  constexpr double kEval[] = {3353.640448, 6638.859776, 7822.145024, 6824.054784,
                              4529.233408, 6493.454848, 7634.866176, 7393.4976};
  labrig::MemoryHistory history;
  const auto add = [&](const char* phase, std::int64_t step, double megabytes) {
    labrig::HistoryRow& row = history.rows.emplace_back();
    row.step = step;
    row.phase = phase;
    row.allocated_bytes = static_cast<std::size_t>(std::llround(megabytes * 1e6));
  };
  std::int64_t step = 0;
  for (const double reading : kTrain) add("train", step++, reading);
  for (const double reading : kEval) add("eval", step - 1, reading);
  return history;
}

}  // namespace oom_triage
