// Operators on tensors. All operands must live on one device (a 0-dim CPU tensor counts as a number); the result lives
// there too. Shapes broadcast and types promote as in PyTorch; errors carry PyTorch's text. On a card a call queues
// work in the current stream and returns. Each is differentiable where that has a meaning (autograd.hpp); names that
// end in _ change their first operand in place. Read next: random.hpp (values by chance), nn.hpp (layers).
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig {

// A number as an operand. As in PyTorch, an integer leaves the element type of an integer tensor alone, while a
// floating point number makes the result f32; no number changes the type of a floating point tensor.
class Scalar {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value)
      : value_(static_cast<double>(value)),
        dtype_(std::is_same_v<T, bool> ? kBool
               : std::is_integral_v<T> ? kI64
                                       : kF32) {}
  constexpr double value() const { return value_; }
  constexpr Dtype dtype() const { return dtype_; }  // bool, i64 or f32: what it would be as a tensor

 private:
  double value_;
  Dtype dtype_;
};

// --- arithmetic ------------------------------------------------------------------------------------------------------
// Elementwise, with broadcasting. Integer division gives f32, as `torch.div`.
LABRIG_API Tensor add(const Tensor& a, const Tensor& b);
LABRIG_API Tensor sub(const Tensor& a, const Tensor& b);
LABRIG_API Tensor mul(const Tensor& a, const Tensor& b);
LABRIG_API Tensor div(const Tensor& a, const Tensor& b);
LABRIG_API Tensor add(const Tensor& a, Scalar b);
LABRIG_API Tensor sub(const Tensor& a, Scalar b);
LABRIG_API Tensor mul(const Tensor& a, Scalar b);
LABRIG_API Tensor div(const Tensor& a, Scalar b);
// In place: the result must broadcast to, and be castable to, the first operand. Returns it.
LABRIG_API const Tensor& add_(const Tensor& self, const Tensor& b);
LABRIG_API const Tensor& sub_(const Tensor& self, const Tensor& b);
LABRIG_API const Tensor& mul_(const Tensor& self, const Tensor& b);
LABRIG_API const Tensor& div_(const Tensor& self, const Tensor& b);
LABRIG_API const Tensor& add_(const Tensor& self, Scalar b);
LABRIG_API const Tensor& sub_(const Tensor& self, Scalar b);
LABRIG_API const Tensor& mul_(const Tensor& self, Scalar b);
LABRIG_API const Tensor& div_(const Tensor& self, Scalar b);

// Comparisons give bool; no gradient.
LABRIG_API Tensor eq(const Tensor& a, const Tensor& b);
LABRIG_API Tensor ne(const Tensor& a, const Tensor& b);
LABRIG_API Tensor lt(const Tensor& a, const Tensor& b);
LABRIG_API Tensor le(const Tensor& a, const Tensor& b);
LABRIG_API Tensor gt(const Tensor& a, const Tensor& b);
LABRIG_API Tensor ge(const Tensor& a, const Tensor& b);
LABRIG_API Tensor eq(const Tensor& a, Scalar b);
LABRIG_API Tensor ne(const Tensor& a, Scalar b);
LABRIG_API Tensor lt(const Tensor& a, Scalar b);
LABRIG_API Tensor le(const Tensor& a, Scalar b);
LABRIG_API Tensor gt(const Tensor& a, Scalar b);
LABRIG_API Tensor ge(const Tensor& a, Scalar b);

// --- one operand -----------------------------------------------------------------------------------------------------
// Of integers, exp … sigmoid give f32, neg and relu integers; gelu takes floating point only, as in PyTorch.
LABRIG_API Tensor neg(const Tensor& x);
LABRIG_API Tensor exp(const Tensor& x);
LABRIG_API Tensor log(const Tensor& x);
LABRIG_API Tensor sqrt(const Tensor& x);
LABRIG_API Tensor tanh(const Tensor& x);
LABRIG_API Tensor sigmoid(const Tensor& x);
LABRIG_API Tensor relu(const Tensor& x);
// x Phi(x), exactly through erf, or by PyTorch's approximation through tanh.
enum class Gelu : std::uint8_t { none, tanh };
LABRIG_API Tensor gelu(const Tensor& x, Gelu approximate = Gelu::none);
// high where low > high. Integers stay integers under bounds that are whole numbers (or infinite, for none). Gradients
// pass where low <= x <= high.
LABRIG_API Tensor clamp(const Tensor& x, double low, double high);
LABRIG_API const Tensor& neg_(const Tensor& x);
LABRIG_API const Tensor& exp_(const Tensor& x);
LABRIG_API const Tensor& log_(const Tensor& x);
LABRIG_API const Tensor& sqrt_(const Tensor& x);
LABRIG_API const Tensor& tanh_(const Tensor& x);
LABRIG_API const Tensor& sigmoid_(const Tensor& x);
LABRIG_API const Tensor& relu_(const Tensor& x);
LABRIG_API const Tensor& clamp_(const Tensor& x, double low, double high);

// --- selection ------------------------------------------------------------------------------------------
// x where `mask` (bool) is false, `value` where it is true; both broadcast, in place the mask to x.
LABRIG_API Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
LABRIG_API const Tensor& masked_fill_(const Tensor& x, const Tensor& mask, double value);
// `a` where `condition` (bool) is true, else `b`; all broadcast.
LABRIG_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
// Rows of x along `dim`, in the order of a 1-d or 0-dim tensor of indices (i64 or i32; none negative).
LABRIG_API Tensor index_select(const Tensor& x, int dim, const Tensor& index);
// x[i0, i1, …]: tensors of indices (i64 or i32), broadcast together, for the leading dimensions; negative ones count
// from the end. A bool or u8 tensor is a mask over as many dimensions as it has, and is read on the host (one value
// synchronisation on a card). Both may be on the CPU while x is on a card.
LABRIG_API Tensor index(const Tensor& x, const std::vector<Tensor>& indices);
// Rows of `weight` [entries, width] for a tensor of ids (i64 or i32), of any shape: [ids' shape, width]. The gradient
// of row `padding_idx` stays 0.
LABRIG_API Tensor embedding(const Tensor& ids, const Tensor& weight, std::int64_t padding_idx = -1);
// Along an existing dimension, or along a new one.
LABRIG_API Tensor cat(const std::vector<Tensor>& tensors, int dim = 0);
LABRIG_API Tensor stack(const std::vector<Tensor>& tensors, int dim = 0);

// --- products ------------------------------------------------------------------------------------------------------
// As torch.matmul: vectors become a row or a column, dimensions before the last two are a batch and broadcast. Floating
// point only.
LABRIG_API Tensor matmul(const Tensor& a, const Tensor& b);
LABRIG_API Tensor mm(const Tensor& a, const Tensor& b);   // [m, k] x [k, n]
LABRIG_API Tensor bmm(const Tensor& a, const Tensor& b);  // [b, m, k] x [b, k, n]
// x W^T + bias: x [*, in], weight [out, in], bias [out] or undefined -> [*, out].
LABRIG_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
// Cross-correlation: x [n, c, h, w], weight [out, c, kh, kw], bias [out] or undefined -> [n, out, h', w'] with
// h' = (h + 2 padding - kh) / stride + 1, rounded down.
LABRIG_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Dims stride = {1, 1},
                         Dims padding = {0, 0});

// --- reductions -----------------------------------------------------------------------------------------------------

// Over all elements, over one dimension, or over several; negative ones count from the end, and an empty list means
// all. Reduced dimensions go away, or keep size 1. `sum` of integers is i64; `mean` and `norm` need floating point.
// Throw `dimension-out-of-range`, `duplicate-dimension`, `dtype-mismatch`; max and argmax of nothing throw
// `empty-reduction`.
LABRIG_API Tensor sum(const Tensor& x);
LABRIG_API Tensor sum(const Tensor& x, int dim, bool keepdim = false);
LABRIG_API Tensor sum(const Tensor& x, const Dims& dims, bool keepdim = false);
LABRIG_API Tensor mean(const Tensor& x);
LABRIG_API Tensor mean(const Tensor& x, int dim, bool keepdim = false);
LABRIG_API Tensor mean(const Tensor& x, const Dims& dims, bool keepdim = false);
// NaN where an element is NaN. The gradient of max over all is shared evenly among equal maxima; over a dimension the
// first one gets it.
LABRIG_API Tensor max(const Tensor& x);
LABRIG_API Tensor max(const Tensor& x, int dim, bool keepdim = false);
// The index (i64) of the first maximum; NaN counts as largest.
LABRIG_API Tensor argmax(const Tensor& x, int dim, bool keepdim = false);
// The Euclidean norm of all elements; its gradient is 0 where the norm is 0.
LABRIG_API Tensor norm(const Tensor& x);
// Summed down to `sizes`, from which the shape of x was broadcast; x itself where nothing was. Throws `shape-mismatch`.
LABRIG_API Tensor sum_to_size(const Tensor& x, const Dims& sizes);

// --- rows -----------------------------------------------------------------------------------------------------------

// exp(x) / sum of exp(x) along a dimension, and its logarithm; of x's shape and floating point type.
LABRIG_API Tensor softmax(const Tensor& x, int dim);
LABRIG_API Tensor log_softmax(const Tensor& x, int dim);
// (x - mean) / sqrt(variance + eps) * weight + bias over the trailing dimensions `normalized`; weight and bias have
// that shape and x's type, or are undefined. Throws `shape-mismatch`, `dtype-mismatch`.
LABRIG_API Tensor layer_norm(const Tensor& x, const Dims& normalized, const Tensor& weight = {},
                             const Tensor& bias = {}, double eps = 1e-5);
// The same over all dimensions but dimension 1 of x [n, c, …], everything else being [c]. In training with the
// statistics of the batch, which also move running_mean and running_var (where defined) by the share `momentum`, the
// latter to the unbiased variance; else with those two. For 16-bit x the rest may be f32. Throws `shape-mismatch`, also
// for a batch of one value a channel, and `dtype-mismatch`.
LABRIG_API Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                             const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                             double momentum = 0.1, double eps = 1e-5);
// With probability p an element becomes 0, the others are divided by 1 - p; x itself when not training. Draws from the
// thread's generator (random.hpp); what is kept for the way back is seed and offset, no mask.
LABRIG_API Tensor dropout(const Tensor& x, double p = 0.5, bool training = true);

// --- losses ---------------------------------------------------------------------------------------------------------

enum class Reduction : std::uint8_t { none, mean, sum };
// -weight[target] * log probability of target, from class scores (or log probabilities) [n, c] or [n, c, …] and class
// numbers (i64) [n] or [n, …]; also [c] and []. weight: [c], of the scores' type, or undefined (1). The class
// `ignore_index` counts 0. `mean` divides by the sum of the weights, and is NaN where that is 0. cross_entropy is
// log_softmax along the classes and nll_loss. Throws `shape-mismatch`, `dtype-mismatch`, and on the host
// `index-out-of-range` for a target that is no class.
LABRIG_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100);
LABRIG_API Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight = {},
                           Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100);
// (input - target)^2. Shapes broadcast; for a gradient both must have one type.
LABRIG_API Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
// Of scores and targets between 0 and 1, of one shape; finite for any score.
LABRIG_API Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                                   Reduction reduction = Reduction::mean);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& a, Scalar b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, Scalar b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, Scalar b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, Scalar b) { return div(a, b); }
inline Tensor operator+(Scalar a, const Tensor& b) { return add(b, a); }
inline Tensor operator*(Scalar a, const Tensor& b) { return mul(b, a); }
inline Tensor operator-(Scalar a, const Tensor& b) { return add(neg(b), a); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace labrig
