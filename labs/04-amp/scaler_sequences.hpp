// Task 2: what happens to a scaler, iteration by iteration, and what PyTorch's would be like afterwards. Four sequences
// are PyTorch's recording (tests/labs/amp_recordings_test.cpp holds them against it), the others are drawn. One
// parameter of four ones an optimizer; the loss is the sum of the first plus twice the sum of the second; SGD with lr
// 0.1.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "interface.hpp"
#include "labrig/lab.hpp"

namespace amp_lab {

inline constexpr double kSequenceLr = 0.1;

// One letter an iteration and optimizer. What stands in the first gradient after backward(), and whether unscale() is
// called before step():   . good   u good, unscale()   i inf   I inf, unscale()   n NaN   N NaN, unscale()
inline bool is_bad(char what) { return what == 'i' || what == 'I' || what == 'n' || what == 'N'; }
inline bool is_inf(char what) { return what == 'i' || what == 'I'; }
inline bool unscales(char what) { return what == 'u' || what == 'I' || what == 'N'; }

struct Sequence {
  ScalerOptions options;
  std::vector<std::string> plans;  // one an optimizer, of equal length
  std::int64_t resume_at = -1;     // before this iteration the state goes into a new scaler; -1: never

  std::size_t iterations() const { return plans[0].size(); }
};

inline const std::array<Sequence, 4>& recorded_sequences() {
  static const std::array<Sequence, 4> kRecorded = {
      Sequence{{65536, 2, 0.5, 5}, {".u.u.niu.NII..N.nui..i....nN.Ii.i..iuiIi.uuu.u.N..unuu..n..n"}},
      Sequence{{65536, 2, 0.5, 2}, {"u.nI.iI...uu.In..nui.i.I.i.i.N..u.uuuuuN...nui.Nn.ii.NNuNuu."}},
      Sequence{{1, 2, 0.5, 3}, {"...IIini......uu..iI.Nnun.uu..IuI.N...n...ui..i..n....Nn.N.."}},
      Sequence{{65536, 4, 0.25, 5}, {".nu...un.niu.ui..uu..Nn..uN...nun.uiu...uNI.Iu...uu..In....."}}};
  return kRecorded;
}

// What can be seen after an iteration.
struct Row {
  double scale = 0, tracker = 0;
  struct Optimizer {
    double stepped = 0;
    double parameter = 0;  // its second element, which nothing is planted in
    double gradient = 0;   // after unscale() was called and before step(); else 0
  };
  std::vector<Optimizer> optimizers;
};

// PyTorch's scaler, in f32 where it computes in f32.
inline std::vector<Row> right_rows(const Sequence& sequence) {
  float scale = static_cast<float>(sequence.options.init_scale);
  std::int64_t tracker = 0;
  std::vector<float> parameters(sequence.plans.size(), 1.0f);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < sequence.iterations(); ++i) {
    Row row;
    bool any_bad = false;
    for (std::size_t o = 0; o < sequence.plans.size(); ++o) {
      const char what = sequence.plans[o][i];
      const float gradient = static_cast<float>(o + 1) * scale * static_cast<float>(1.0 / scale);
      if (!is_bad(what)) parameters[o] -= static_cast<float>(kSequenceLr) * gradient;
      any_bad = any_bad || is_bad(what);
      row.optimizers.push_back({is_bad(what) ? 0.0 : 1.0, parameters[o], unscales(what) ? gradient : 0.0});
    }
    if (any_bad) {
      scale *= static_cast<float>(sequence.options.backoff_factor);
      tracker = 0;
    } else if (++tracker == sequence.options.growth_interval) {
      const float grown = scale * static_cast<float>(sequence.options.growth_factor);
      if (std::isfinite(grown)) scale = grown;
      tracker = 0;
    }
    row.scale = scale;
    row.tracker = static_cast<double>(tracker);
    rows.push_back(row);
  }
  return rows;
}

// --- drawn sequences -------------------------------------------------------------------------------------------------
// Good iterations first, then whatever comes; with unscale() in all or half of them, or in none.
inline std::string draw_plan(labrig::lab::Random& random, std::int64_t good_first, bool explicitly) {
  constexpr std::size_t kIterations = 24;
  std::string plan(static_cast<std::size_t>(good_first), explicitly ? 'u' : '.');
  while (plan.size() < kIterations) {
    const double chance = random.uniform();
    const bool unscale = explicitly && random.uniform() < 0.5;
    plan += chance < 0.12 ? (unscale ? 'I' : 'i') : chance < 0.2 ? (unscale ? 'N' : 'n') : (unscale ? 'u' : '.');
  }
  plan[static_cast<std::size_t>(good_first) + 2] = 'i';  // each meets at least one overflow
  return plan;
}

// Twelve: three of each kind (step() alone, unscale() first, two optimizers, saved and restored). Each grows and backs
// off; the first begins so high that growth would leave f32.
inline std::vector<Sequence> draw_sequences(labrig::lab::Random& random) {
  std::vector<Sequence> all;
  for (int i = 0; i < 12; ++i) {
    Sequence sequence;
    const bool fast = random.uniform() < 0.3;
    sequence.options = {std::ldexp(1.0, static_cast<int>(random.integer(4, 10))), fast ? 4.0 : 2.0, fast ? 0.25 : 0.5,
                        random.integer(2, 4)};
    const std::int64_t interval = sequence.options.growth_interval;
    sequence.plans.push_back(draw_plan(random, interval + 2, i % 4 == 1));
    if (i == 0) {
      sequence.options.init_scale = std::ldexp(1.0, 126);
      sequence.plans[0].replace(0, 13, "............i");
    }
    if (i % 4 == 2) sequence.plans.push_back(draw_plan(random, interval + 2, false));
    // After the first growth, in the middle of the way to the next: scale and tracker both have to be kept.
    if (i % 4 == 3) sequence.resume_at = interval + 1;
    all.push_back(sequence);
  }
  return all;
}

}  // namespace amp_lab
