// Selection by a mask: where, masked_fill. The gradient goes where the value came from.
#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/gradient.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

void check_mask(const char* text, const Tensor& mask) {
  if (impl_of(mask).dtype == kBool) return;
  throw Error("dtype-mismatch", text + std::string(torch_type_name(mask.dtype())),
              "a mask says of each element which of two values it gets", "convert the mask with .to(kBool)");
}
constexpr const char* kMaskText = "masked_fill only supports boolean masks, but got dtype ";

// out <- condition ? a : b, without a note of how to go back. Numbers on the CPU move to the device.
Tensor chosen(const Tensor& condition, const Tensor& a, const Tensor& b, Dtype dtype, Device device) {
  const Dims sizes = broadcast_sizes(condition.sizes(), broadcast_sizes(a.sizes(), b.sizes()));
  Tensor out = make_tensor(sizes, {dtype, device}, "where");
  const Tensor on_device = condition.to(device), left = a.detach().to(device), right = b.detach().to(device);
  run(Kernel::where, {&out, &on_device, &left, &right});
  return out;
}

graph::Backward masked_fill_backward(const Tensor& x, graph::SavedTensor mask) {
  return [form = InputForm(x), mask = std::move(mask)](const Tensor& gradient, graph::Gradients& to) {
    to.give(0, form.fit(masked_fill(gradient, mask.get(), 0)));
  };
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("where", a_in, b_in);
  const Device device = common_device("where", {{"condition", &condition}, {"a", &a}, {"b", &b}});
  check_mask("where expected condition to be a boolean tensor, but got a tensor with dtype ", condition);
  Tensor out = chosen(condition, a, b, result_type(a, b), device);
  graph::record("WhereBackward0", out, {&a, &b}, [&](graph::Saver& save) {
    return [a_form = InputForm(a), b_form = InputForm(b), condition = save(condition)](const Tensor& gradient,
                                                                                       graph::Gradients& to) {
      const Tensor mask = condition.get(), zero = zeros({}, {gradient.dtype(), gradient.device()});
      const auto part = [&](const Tensor& left, const Tensor& right) {
        return chosen(mask, left, right, gradient.dtype(), gradient.device());
      };
      if (to.wanted(0)) to.give(0, a_form.fit(part(gradient, zero)));
      if (to.wanted(1)) to.give(1, b_form.fit(part(zero, gradient)));
    };
  });
  return out;
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  const Device device = common_device("masked_fill", {{"x", &x}, {"mask", &mask}});
  check_mask(kMaskText, mask);
  check_holds(x.dtype(), value);
  const Tensor on_device = mask.to(device), values = x.detach().to(device);
  Tensor out = make_tensor(broadcast_sizes(x.sizes(), mask.sizes()), {x.dtype(), device}, "masked_fill");
  run(Kernel::masked_fill, {&out, &values, &on_device}, {scalar_bits(value)});
  graph::record("MaskedFillBackward0", out, {&x},
                [&](graph::Saver& save) { return masked_fill_backward(x, save(on_device)); });
  return out;
}

const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, double value) {
  graph::check_in_place(self);
  common_device("masked_fill", {{"self", &self}, {"mask", &mask}});
  check_mask(kMaskText, mask);
  check_holds(self.dtype(), value);
  check_fills(self.sizes(), mask.sizes());
  const Tensor on_device = mask.to(self.device());
  run(Kernel::masked_fill, {&self, &self, &on_device}, {scalar_bits(value)});
  graph::record_in_place("MaskedFillBackward0", self, {&self},
                         [&](graph::Saver& save) { return masked_fill_backward(self, save(on_device)); });
  return self;
}

}  // namespace labrig
