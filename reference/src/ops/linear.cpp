// A layer's product: x W^T + bias, with x [*, in] taken as rows. The bias is added before the result is rounded.
// Gradients: dx = dy W, dW = dy^T x, dbias = the sum of dy over all rows.
#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "ops/products.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

// [*, columns] as a matrix.
Tensor as_rows(const Tensor& x) {
  if (x.dim() == 2) return x;
  const Dims& sizes = x.sizes();
  return x.reshape({Dims(std::span(sizes.begin(), sizes.end() - 1)).product(), x.size(-1)});
}

Error types_differ(const std::string& what, const Tensor& first, const Tensor& second) {
  return Error(
      "dtype-mismatch",
      what + " must have the same dtype, but got " + torch_type_name(first.dtype()) + " and " +
          torch_type_name(second.dtype()),
      "a layer computes in the type of its weight and converts nothing by itself",
      std::string("convert the input with .to(") + name_of(second.dtype()) + "), or compute the layer inside autocast");
}

// PyTorch calls bias, input and transposed weight self, mat1 and mat2 of addmm; without a bias the layer is mm.
Device checked_device(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!bias.defined()) return strict_device("linear", "wrapper_CUDA_mm", {{"self", &x}, {"mat2", &weight}});
  return strict_device("linear", "wrapper_CUDA_addmm", {{"self", &bias}, {"mat1", &x}, {"mat2", &weight}});
}

void check_dims(const Tensor& x, const Tensor& weight) {
  if (x.dim() >= 1 && weight.dim() == 2) return;
  throw Error("shape-mismatch",
              "linear(): expected an input of at least one dimension and a weight of two, but got input " +
                  x.sizes().str() + " and weight " + weight.sizes().str(),
              "each row of the input, its last dimension, is multiplied by the weight [out, in]",
              "give the input a dimension, and the weight two");
}

void check_types(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (bias.defined() && bias.dtype() != weight.dtype()) throw types_differ("self and mat2", bias, weight);
  if (x.dtype() != weight.dtype()) throw types_differ("mat1 and mat2", x, weight);
  check_product_type("addmm", x);
}

// The values alone: what autograd notes is one step, not the views.
Tensor computed(const Tensor& x, const Tensor& weight, const Tensor& bias, Device device) {
  const NoGradGuard guard;
  Dims sizes = x.sizes();
  sizes[sizes.count() - 1] = weight.size(0);
  Tensor out = make_tensor(sizes, {x.dtype(), device}, "linear");
  const Tensor rows = as_rows(x), out_rows = as_rows(out);
  const Tensor added = bias.defined() ? bias.expand(out_rows.sizes()) : bias;
  if (out.numel() == 0) return out;
  const Tensor row = bias.defined() ? added.select(0, 0) : bias;
  run(Kernel::linear, {&out_rows, &rows, &weight, &row});
  return out;
}

}  // namespace

Tensor linear(const Tensor& x_in, const Tensor& weight_in, const Tensor& bias_in) {
  const auto [x, weight, bias] = autocast("linear", x_in, weight_in, bias_in);
  const Device device = checked_device(x, weight, bias);
  check_dims(x, weight);
  if (x.size(-1) != weight.size(1)) check_mm_shapes(as_rows(x), weight.t());
  check_types(x, weight, bias);
  Tensor out = computed(x, weight, bias, device);
  graph::record(bias.defined() ? "AddmmBackward0" : "MmBackward0", out, {&x, &weight, &bias},
                [&, &x = x, &weight = weight, &bias = bias](graph::Saver& save) {
                  return [x_sizes = x.sizes(), bias_sizes = bias.defined() ? bias.sizes() : Dims{},
                          x = save.if_wanted(1, x),
                          weight = save.if_wanted(0, weight)](const Tensor& gradient, graph::Gradients& to) {
                    const Tensor rows = as_rows(gradient);
                    if (to.wanted(0)) to.give(0, mm(rows, weight.get()).view(x_sizes));
                    if (to.wanted(1)) to.give(1, mm(rows.t(), as_rows(x.get())));
                    if (to.wanted(2)) to.give(2, sum_to_size(rows, bias_sizes));
                  };
                });
  return out;
}

}  // namespace labrig
