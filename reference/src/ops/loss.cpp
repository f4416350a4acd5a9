// Losses of single elements: mse_loss, binary_cross_entropy_with_logits. One kernel gives the loss of each element, a
// second one averages or sums them; the way back is one kernel, with the factor of the average in it, and keeps only
// the two inputs.
#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/gradient.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

Dtype loss_type(const char* kernel, const Tensor& input, const Tensor& target) {
  const Dtype dtype = result_type(input, target);
  if (is_floating_point(dtype)) return dtype;
  throw Error("dtype-mismatch", "\"" + std::string(kernel) + "\" not implemented for '" + torch_type_name(dtype) + "'",
              "a loss of whole numbers would have no gradient", "convert input and target to f32 first");
}

Tensor reduced(const Tensor& each, Reduction reduction) {
  if (reduction == Reduction::none) return each;
  return reduction == Reduction::mean ? mean(each) : sum(each);
}

// What the gradient of the reduced loss is multiplied by for each element.
double factor_of(const Dims& sizes, Reduction reduction) {
  return reduction == Reduction::mean ? 1 / static_cast<double>(sizes.product()) : 1;
}

// Numbers on the CPU move to the device; nothing is noted.
Tensor on(Device device, const Tensor& x) { return x.detach().to(device); }

Tensor each_element(Kernel kernel, const char* name, const Tensor& input, const Tensor& target, Options options) {
  Tensor each = make_tensor(broadcast_sizes(input.sizes(), target.sizes()), options, name);
  const Tensor x = on(options.device, input), t = on(options.device, target);
  run(kernel, {&each, &x, &t});
  return each;
}

// The gradient of the loss for the input, times `factor`.
Tensor each_gradient(Kernel kernel, const Tensor& gradient, const Tensor& input, const Tensor& target, double factor) {
  const Dims sizes = broadcast_sizes(gradient.sizes(), broadcast_sizes(input.sizes(), target.sizes()));
  Tensor out = make_tensor(sizes, {result_type(input, target), gradient.device()}, "gradient");
  const Tensor x = on(out.device(), input), t = on(out.device(), target);
  run(kernel, {&out, &gradient, &x, &t}, {scalar_bits(factor)});
  return out;
}

// PyTorch computes the gradient of mse_loss in one type only.
void check_one_type(const Tensor& input, const Tensor& target) {
  if (input.dtype() == target.dtype()) return;
  throw Error(
      "dtype-mismatch",
      std::string("Found dtype ") + torch_type_name(target.dtype()) + " but expected " + torch_type_name(input.dtype()),
      std::string("the gradient of mse_loss is computed in the type of its input, ") + name_of(input.dtype()) +
          ", and the target has type " + name_of(target.dtype()),
      "convert the target with .to() before the loss");
}

}  // namespace

Tensor mse_loss(const Tensor& input_in, const Tensor& target_in, Reduction reduction) {
  const auto [input, target] = autocast("mse_loss", input_in, target_in);
  const Device device = common_device("mse_loss", {{"input", &input}, {"target", &target}});
  const Dtype dtype = loss_type("mse_cuda", input, target);
  const Tensor each = each_element(Kernel::mse_loss, "mse_loss", input, target, {dtype, device});
  Tensor out = reduced(each, reduction);
  graph::record("MseLossBackward0", out, {&input, &target}, [&](graph::Saver& save) {
    return [input = save(input), target = save(target), input_form = InputForm(input), target_form = InputForm(target),
            factor = factor_of(each.sizes(), reduction)](const Tensor& gradient, graph::Gradients& to) {
      const Tensor x = input.get(), t = target.get();
      check_one_type(x, t);
      const auto part = [&](double sign) {
        return each_gradient(Kernel::mse_loss_backward, gradient, x, t, sign * factor);
      };
      if (to.wanted(0)) to.give(0, input_form.fit(part(1)));
      if (to.wanted(1)) to.give(1, target_form.fit(part(-1)));
    };
  });
  return out;
}

Tensor binary_cross_entropy_with_logits(const Tensor& input_in, const Tensor& target_in, Reduction reduction) {
  const auto [input, target] = autocast("binary_cross_entropy_with_logits", input_in, target_in);
  const Device device = common_device("binary_cross_entropy_with_logits", {{"input", &input}, {"target", &target}});
  if (!(input.sizes() == target.sizes())) {
    throw Error("shape-mismatch",
                "Target size (torch.Size(" + target.sizes().str() + ")) must be the same as input size (torch.Size(" +
                    input.sizes().str() + "))",
                "each score has a target of its own; nothing is repeated here", "reshape or expand the target");
  }
  const Dtype dtype = loss_type("log_sigmoid_forward_cuda", input, target);
  const Tensor each = each_element(Kernel::bce_with_logits, "bce_with_logits", input, target, {dtype, device});
  Tensor out = reduced(each, reduction);
  graph::record("BinaryCrossEntropyWithLogitsBackward0", out, {&input, &target}, [&](graph::Saver& save) {
    return [input = save(input), target = save.if_wanted(0, target), input_form = InputForm(input),
            target_form = InputForm(target),
            factor = factor_of(each.sizes(), reduction)](const Tensor& gradient, graph::Gradients& to) {
      const Tensor x = input.get();
      if (to.wanted(0)) {
        to.give(0, input_form.fit(each_gradient(Kernel::bce_with_logits_backward, gradient, x, target.get(), factor)));
      }
      if (to.wanted(1)) to.give(1, target_form.fit(mul(mul(x, gradient), -factor)));
    };
  });
  return out;
}

}  // namespace labrig
