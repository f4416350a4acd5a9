// layer_norm over the trailing dimensions: the kernel sees rows of columns. For the way back the input is kept, and
// mean and deviation of every row.
#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "ops/autocast.hpp"
#include "ops/normalization.hpp"
#include "ops/operands.hpp"

namespace labrig {
namespace {

void check_normalized_shape(const Tensor& x, const Dims& normalized) {
  if (normalized.count() == 0) {
    throw Error("shape-mismatch",
                "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but "
                "got normalized_shape = []",
                "a single value has no deviation", "name the trailing dimensions over which to normalise");
  }
  const int before = x.dim() - normalized.count();
  bool fits = before >= 0;
  for (int d = 0; fits && d < normalized.count(); ++d) fits = x.size(before + d) == normalized[d];
  if (fits) return;
  std::string sizes;
  for (const std::int64_t size : normalized) sizes += ", " + std::to_string(size);
  throw Error("shape-mismatch",
              "Given normalized_shape=" + normalized.str() + ", expected input with shape [*" + sizes +
                  "], but got input of size" + x.sizes().str(),
              "layer_norm runs over the last " + std::to_string(normalized.count()) +
                  " dimensions, and their sizes belong to the layer",
              "make the layer with the sizes that the input ends with");
}

void check_parameter(const char* role, const Tensor& x, const Dims& normalized, const Tensor& parameter) {
  if (!parameter.defined()) return;
  if (parameter.sizes() != normalized) {
    throw Error("shape-mismatch",
                std::string("Expected ") + role + " to be of same shape as normalized_shape, but got " + role +
                    " of shape " + parameter.sizes().str() + " and normalized_shape = " + normalized.str(),
                "every normalised element has a weight and a bias of its own",
                std::string("give ") + role + " the shape " + normalized.str());
  }
  if (parameter.dtype() != x.dtype()) throw wrong_parameter_type(x.dtype(), role, parameter);
}

// The input as the kernels see it.
struct Rows {
  std::int64_t rows, columns;

  Rows(const Dims& sizes, const Dims& normalized) : rows(1), columns(normalized.product()) {
    for (int d = 0; d < sizes.count() - normalized.count(); ++d) rows *= sizes[d];
  }
  Tensor matrix(const Tensor& x) const { return x.reshape({rows, columns}); }
  Tensor row(const Tensor& parameter) const { return parameter.defined() ? parameter.reshape({columns}) : parameter; }
};

// What the forward leaves for the way back.
struct Saved {
  graph::SavedTensor x, weight, mean, rstd;
};

void give_gradients(const Saved& saved, const Dims& normalized, const Tensor& gradient, graph::Gradients& to) {
  const Tensor x = saved.x.get(), weight = saved.weight.get(), mean = saved.mean.get(), rstd = saved.rstd.get();
  const Rows shape(x.sizes(), normalized);
  const Options like{x.dtype(), x.device()};
  const Tensor dy = shape.matrix(gradient), values = shape.matrix(x), weights = shape.row(weight);
  if (to.wanted(0)) {
    const Tensor dx = make_tensor(x.sizes(), like, "layer_norm_backward"), dvalues = shape.matrix(dx);
    run(Kernel::layer_norm_backward, {&dvalues, &dy, &values, &weights, &mean, &rstd});
    to.give(0, dx);
  }
  if (!to.wanted(1) && !to.wanted(2)) return;
  const Tensor dweight = make_tensor(normalized, like, "layer_norm_weight_backward"),
               dbias = make_tensor(normalized, like, "layer_norm_weight_backward");
  const Tensor dweights = shape.row(dweight), dbiases = shape.row(dbias);
  run(Kernel::layer_norm_weight_backward, {&dweights, &dbiases, &dy, &values, &mean, &rstd});
  if (to.wanted(1)) to.give(1, dweight);
  if (to.wanted(2)) to.give(2, dbias);
}

}  // namespace

Tensor layer_norm(const Tensor& x_in, const Dims& normalized, const Tensor& weight_in, const Tensor& bias_in,
                  double eps) {
  const auto [x, weight, bias] = autocast("layer_norm", x_in, weight_in, bias_in);
  strict_device("layer_norm", "wrapper_CUDA__native_layer_norm",
                {{"input", &x}, {"weight", &weight, true}, {"bias", &bias, true}});
  check_normalized_type("LayerNormKernelImpl", x);
  check_normalized_shape(x, normalized);
  check_parameter("weight", x, normalized, weight);
  check_parameter("bias", x, normalized, bias);

  const Rows shape(x.sizes(), normalized);
  const Options statistics{statistics_type(x.dtype()), x.device()};
  Tensor out = make_tensor(x.sizes(), {x.dtype(), x.device()}, "layer_norm");
  const Tensor mean = make_tensor({shape.rows}, statistics, "mean"),
               rstd = make_tensor({shape.rows}, statistics, "rstd");
  {
    const NoGradGuard views_are_no_steps;
    const Tensor to = shape.matrix(out), values = shape.matrix(x);
    const Tensor weights = shape.row(weight), biases = shape.row(bias);
    run(Kernel::layer_norm, {&to, &mean, &rstd, &values, &weights, &biases}, {scalar_bits(eps)});
  }
  graph::record("NativeLayerNormBackward0", out, {&x, &weight, &bias}, [&](graph::Saver& save) {
    return [saved = Saved{save(x), save.if_wanted(0, weight), save(mean), save(rstd)}, normalized](
               const Tensor& gradient, graph::Gradients& to) { give_gradients(saved, normalized, gradient, to); };
  });
  return out;
}

}  // namespace labrig
