// The memory of training, planned before anything runs: parameters, gradients, optimizer state, what backward() needs
// of the forward pass, and the peak of it all. A step of the described model is played through on paper: every tensor
// that the core would make takes a block of a card that is only an account, and gives it back when the core would.
// `labrig plan` prints the result; docs/plan.md has the description's format and, for each operator, what it keeps.
// Read next: harness/sdk/src/plan/README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "labrig/export.hpp"

namespace labrig::plan {

// --- what is described -----------------------------------------------------------------------------------------------

enum class Kind : std::uint8_t {
  linear,      // [*, in] -> [*, out]
  conv2d,      // [c, h, w] -> [out, h', w']
  layer_norm,  // over the last dimension
  batch_norm,  // of the channels, the first dimension
  embedding,   // ids [*] -> [*, out]; the first layer, or none
  attention,   // [length, width] -> the same: heads of softmax(q k^T / sqrt(d)) v, not fused
  relu,
  gelu,
  tanh,
  sigmoid,
  softmax,  // over the last dimension
  dropout,
  flatten,            // [*] -> one dimension
  mean_pool,          // [c, h, w] -> [c], [length, width] -> [width]
  residual,           // x + layers(x)
  repeat,             // `layers`, `times` times one after the other
  transformer_block,  // residual(layer_norm, attention), residual(layer_norm, linear hidden, gelu, linear)
};
LABRIG_API const char* name_of(Kind kind);

// What a kind does not use is ignored.
struct Layer {
  Kind kind = Kind::linear;
  std::int64_t out = 0;                              // linear: features; conv2d: channels; embedding: width
  std::int64_t entries = 0;                          // embedding: rows of the table
  std::int64_t kernel = 3, stride = 1, padding = 0;  // conv2d: of both directions
  std::int64_t heads = 1;                            // attention, transformer_block
  std::int64_t hidden = 0;    // transformer_block: features between its two linears; 0: four times the width
  std::int64_t times = 1;     // repeat
  double p = 0;               // dropout, attention, transformer_block: probability; 0: none
  bool bias = true;           // linear, conv2d
  bool inplace = false;       // relu
  std::vector<Layer> layers;  // residual, repeat
  std::string place;          // "model.toml:12:1: ", in front of what is wrong with it; may be empty
};

enum class Loss : std::uint8_t { cross_entropy, mse, bce_with_logits };

// For who knows no layers, only sums.
struct Totals {
  double parameters = 0;                   // numbers, not bytes
  double activation_bytes_per_sample = 0;  // kept for backward, in the precision that is planned for
  double temporary_bytes_per_sample = 0;   // held beside them at the worst moment
};

struct Model {
  std::string name;
  std::vector<std::int64_t> input;  // sizes of one sample, without the batch
  std::vector<Layer> layers;
  Loss loss = Loss::cross_entropy;
  std::optional<Totals> totals;  // instead of input and layers
};

enum class Optimizer : std::uint8_t { sgd, sgd_momentum, adam, adamw };
LABRIG_API const char* name_of(Optimizer optimizer);
// f16 and bf16 are autocast regions: weights, gradients and optimizer state stay f32. f16 has a gradient scaler.
enum class Precision : std::uint8_t { f32, f16, bf16 };
LABRIG_API const char* name_of(Precision precision);

struct Training {
  std::int64_t batch = 1;
  Optimizer optimizer = Optimizer::adam;
  Precision precision = Precision::f32;
  bool accumulates = false;  // gradients of the micro-batches before are there already
};

// --- what comes out --------------------------------------------------------------------------------------------------

enum class Part : std::uint8_t {
  parameters,     // and buffers of batch_norm
  gradients,      // of the parameters
  optimizer,      // momentum, averages
  inputs,         // the batch and its targets
  weight_copies,  // the 16-bit copies of an autocast region
  activations,    // made in the forward pass and kept for backward()
  temporary,      // everything else: results that nothing keeps, gradients on their way back
};
inline constexpr std::size_t kParts = 7;
LABRIG_API const char* name_of(Part part);
using Bytes = std::array<std::size_t, kParts>;  // by Part

// One layer of the description, all repetitions of it together; the last one is the loss.
struct LayerPlan {
  std::string name;  // "3 linear", "4.1 layer_norm" inside layer 4
  std::int64_t times = 1;
  std::vector<std::int64_t> out;  // sizes of one sample
  std::int64_t parameters = 0;    // numbers, of all repetitions
  std::size_t kept_bytes = 0;     // what it makes and backward() needs
  std::string kept;               // each of these tensors: "output 256 x 1024 x 4 B"
};

struct Plan {
  std::int64_t parameters = 0;  // numbers
  std::size_t fixed_bytes = 0;  // parameters, gradients and optimizer state, whatever the batch: Adam in f32 16 B each
  Bytes bytes{};                // of each part, the most that it takes at any time of a step
  Bytes at_peak{};              // when everything together is most
  std::size_t peak_bytes = 0;   // the sum of at_peak: max_memory_allocated()
  std::size_t reserved_bytes = 0;  // what the allocator holds from the driver for it; 0 for totals
  std::string moment;              // of the peak: "backward of 3 linear"
  std::vector<LayerPlan> layers;

  std::size_t operator[](Part part) const { return bytes[static_cast<std::size_t>(part)]; }
};

// Throws Error `bad-model` for layers that do not fit together and for tensors that no card holds.
LABRIG_API Plan make_plan(const Model& model, const Training& training);

// Whether two steps train within so many bytes of a card, by the rules of the allocator: segments, and what is left
// over in them, count. Of totals: whether the peak is no more.
LABRIG_API bool fits(const Model& model, const Training& training, std::size_t bytes);

struct LargestBatch {
  std::int64_t batch = 0;     // 0 when not even one sample fits
  std::int64_t by_bytes = 0;  // by the bytes of its tensors alone; above `batch` where segments have pieces left over
};
// The largest batch that fits; the next larger one does not. training.batch is not looked at.
LABRIG_API LargestBatch largest_batch(const Model& model, const Training& training, std::size_t bytes);

// --- the same, measured ----------------------------------------------------------------------------------------------

// max_memory_allocated() of two training steps of the model, built from labrig::nn, on a simulated card without values
// (lab::CostCard). Throws OutOfMemoryError when `capacity_bytes` (0: the most that a simulated card can have, 400 GiB)
// is too little, `bad-model` for totals. While it runs, `sim:0` of this process is its card.
LABRIG_API std::size_t measured_peak_bytes(const Model& model, const Training& training,
                                           std::size_t capacity_bytes = 0);

}  // namespace labrig::plan
