// A description taken apart: repetitions written out, blocks replaced by what they are made of, sizes known. Both ways
// to train walk over these units: on paper (paper_model.cpp) and with labrig::nn (measure.cpp).
#pragma once

#include <string>
#include <vector>

#include "labrig/layout.hpp"
#include "labrig/plan.hpp"

namespace labrig::plan {

struct Unit {
  Layer layer;               // neither repeat nor transformer_block
  std::size_t row = 0;       // of the description
  Dims in, out;              // sizes of one sample
  std::vector<Unit> inside;  // of a residual
};

struct Units {
  std::vector<Unit> units;
  std::vector<LayerPlan> rows;  // name, times and out
  Dims input, output;           // sizes of one sample
  bool takes_ids = false;
};

// Throws Error `bad-model`.
Units units_of(const Model& model);

}  // namespace labrig::plan
