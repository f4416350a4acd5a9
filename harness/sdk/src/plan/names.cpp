// The words of a plan, as descriptions and answers write them.
#include "labrig/plan.hpp"

namespace labrig::plan {

const char* name_of(Kind kind) {
  constexpr std::array names = {"linear",  "conv2d",    "layer_norm", "batch_norm", "embedding",        "attention",
                                "relu",    "gelu",      "tanh",       "sigmoid",    "softmax",          "dropout",
                                "flatten", "mean_pool", "residual",   "repeat",     "transformer_block"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(Optimizer optimizer) {
  constexpr std::array names = {"sgd", "sgd_momentum", "adam", "adamw"};
  return names[static_cast<std::size_t>(optimizer)];
}

const char* name_of(Precision precision) {
  constexpr std::array names = {"f32", "f16", "bf16"};
  return names[static_cast<std::size_t>(precision)];
}

const char* name_of(Part part) {
  constexpr std::array names = {"parameters",    "gradients",   "optimizer", "inputs",
                                "weight_copies", "activations", "temporary"};
  static_assert(names.size() == kParts);
  return names[static_cast<std::size_t>(part)];
}

}  // namespace labrig::plan
