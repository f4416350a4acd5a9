// Two-dimensional convolution, and its gradients: two kernels of their own, and a sum for the bias.
#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "ops/products.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

Error types_differ(const std::string& input, const char* role, const std::string& other, const NamedOperand& x,
                   const NamedOperand& second) {
  return Error("dtype-mismatch", "Input type (" + input + ") and " + role + " type (" + other + ") should be the same",
               "a convolution takes operands of one type on one device and converts nothing by itself: " +
                   described(x) + "; " + described(second),
               "bring both to one type and device with .to()");
}

// PyTorch names types in two ways here: a bias of another element type is found first, and shortly.
void check_operands(const NamedOperand& x, const NamedOperand& weight, const NamedOperand& bias) {
  for (const NamedOperand& operand : {x, weight}) require("conv2d", operand);
  const Tensor& input = *x.tensor;
  if (bias.tensor->defined() && bias.tensor->dtype() != input.dtype()) {
    throw types_differ(torch_name_of(input.dtype()), "bias", torch_name_of(bias.tensor->dtype()), x, bias);
  }
  for (const NamedOperand& operand : {weight, bias}) {
    const Tensor& other = *operand.tensor;
    if (!other.defined() || (other.dtype() == input.dtype() && other.device() == input.device())) continue;
    const bool same_kind = other.dtype() == input.dtype() && other.device().type() == input.device().type();
    if (same_kind) strict_device("conv2d", "wrapper_CUDA_cudnn_convolution", {x, weight, bias});  // two cards
    Error error = types_differ(torch_tensor_name(input), operand.role, torch_tensor_name(other), x, operand);
    if (other.device() == input.device()) throw error;
    throw Error("device-mismatch", error.what(), error.why(), error.fix());
  }
  check_product_type("conv2d", input);
}

void check_shapes(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() != 4 || x.dim() != 4) {
    const bool of_weight = weight.dim() != 4;
    throw Error(
        "shape-mismatch",
        of_weight
            ? "Expected a 4-dimensional weight for conv2d, but got weight of size: " + weight.sizes().str()
            : "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: " + x.sizes().str(),
        "images are [n, channels, height, width], weights [out, channels, height, width]",
        "add the missing dimensions with unsqueeze");
  }
  if (x.size(1) != weight.size(1)) {
    const std::string expected = std::to_string(weight.size(1));
    throw Error("shape-mismatch",
                "Given groups=1, weight of size " + weight.sizes().str() + ", expected input" + x.sizes().str() +
                    " to have " + expected + " channels, but got " + std::to_string(x.size(1)) + " channels instead",
                "dimension 1 of the input holds the channels, and the weight has values for " + expected,
                "check the order of the dimensions, [n, channels, height, width], and the layer before this one");
  }
  if (bias.defined() && !(bias.sizes() == Dims{weight.size(0)})) {
    throw Error("shape-mismatch",
                "Given weight of size " + weight.sizes().str() + ", expected bias to be 1-dimensional with " +
                    std::to_string(weight.size(0)) + " elements, but got bias of size " + bias.sizes().str() +
                    " instead",
                "each channel of the output has one bias", "make the bias of shape [out channels]");
  }
}

void check_steps(const Dims& stride, const Dims& padding) {
  if (stride.count() != 2 || padding.count() != 2) {
    throw Error("invalid-shape", "expected stride and padding to be two integers each",
                "one is for the height, one for the width", "write {1, 1}");
  }
  if (stride[0] < 1 || stride[1] < 1) {
    throw Error("invalid-shape", "non-positive stride is not supported", "the stride is " + stride.str(),
                "use 1 or more");
  }
  if (padding[0] < 0 || padding[1] < 0) {
    throw Error("invalid-shape", "negative padding is not supported", "the padding is " + padding.str(),
                "use 0 or more; narrow() cuts an image");
  }
}

// Height and width of the map.
Dims map_sizes(const Tensor& x, const Tensor& weight, const Dims& stride, const Dims& padding) {
  const Dims padded{x.size(2) + 2 * padding[0], x.size(3) + 2 * padding[1]};
  if (weight.size(2) > padded[0] || weight.size(3) > padded[1]) {
    const auto by = [](std::int64_t a, std::int64_t b) { return std::to_string(a) + " x " + std::to_string(b); };
    throw Error("shape-mismatch",
                "Calculated padded input size per channel: (" + by(padded[0], padded[1]) + "). Kernel size: (" +
                    by(weight.size(2), weight.size(3)) + "). Kernel size can't be greater than actual input size",
                "the weight has no place inside the image", "pad the image, use a smaller weight, or pool less before");
  }
  if (weight.size(2) == 0 || weight.size(3) == 0) {
    throw Error("shape-mismatch", "weight should have at least three dimensions, all non-zero",
                "the weight has shape " + weight.sizes().str(), "give it at least one row and one column");
  }
  return {(padded[0] - weight.size(2)) / stride[0] + 1, (padded[1] - weight.size(3)) / stride[1] + 1};
}

// Stride and padding as the kernels take them.
using Steps = std::array<std::uint64_t, 4>;
Tensor launched(Kernel kernel, const Dims& sizes, const Tensor& a, const Tensor& b, const Steps& s) {
  Tensor out = make_tensor(sizes, {a.dtype(), a.device()}, name_of(kernel));
  run(kernel, {&out, &a, &b}, {s[0], s[1], s[2], s[3]});
  return out;
}

void record_backward(const Tensor& out, const Tensor& x, const Tensor& weight, const Tensor& bias, const Steps& steps) {
  graph::record("ConvolutionBackward0", out, {&x, &weight, &bias}, [&](graph::Saver& save) {
    return [x_sizes = x.sizes(), weight_sizes = weight.sizes(), x = save.if_wanted(1, x),
            weight = save.if_wanted(0, weight), steps](const Tensor& gradient, graph::Gradients& to) {
      if (to.wanted(0)) {
        to.give(0, launched(Kernel::conv2d_input_backward, x_sizes, gradient, weight.get(), steps));
      }
      if (to.wanted(1)) {
        to.give(1, launched(Kernel::conv2d_weight_backward, weight_sizes, gradient, x.get(), steps));
      }
      if (to.wanted(2)) to.give(2, sum(gradient, Dims{0, 2, 3}));
    };
  });
}

}  // namespace

Tensor conv2d(const Tensor& x_in, const Tensor& weight_in, const Tensor& bias_in, Dims stride, Dims padding) {
  const auto [x, weight, bias] = autocast("conv2d", x_in, weight_in, bias_in);
  check_operands({"input", &x}, {"weight", &weight}, {"bias", &bias, true});
  if (x.dim() == 3) return conv2d(x.unsqueeze(0), weight, bias, stride, padding).squeeze(0);
  check_shapes(x, weight, bias);
  check_steps(stride, padding);
  const Dims map = map_sizes(x, weight, stride, padding);
  const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const Steps s{number(stride[0]), number(stride[1]), number(padding[0]), number(padding[1])};
  Tensor out = make_tensor({x.size(0), weight.size(0), map[0], map[1]}, {x.dtype(), x.device()}, "conv2d");
  run(Kernel::conv2d, {&out, &x, &weight, &bias}, {s[0], s[1], s[2], s[3]});
  record_backward(out, x, weight, bias, s);
  return out;
}

}  // namespace labrig
