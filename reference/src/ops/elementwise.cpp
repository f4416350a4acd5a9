// add, sub, mul, div, relu, neg, masked_fill: the result has the shape that the operands broadcast to and the type that
// they promote to.
#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

// One of the four operations in its forms: of two tensors, and of a tensor and a number.
struct Arithmetic {
  Kernel kernel, scalar_kernel;
  const char* name;
  bool commutes;
};
constexpr Arithmetic kAdd{Kernel::add, Kernel::add_scalar, "add", true};
constexpr Arithmetic kSub{Kernel::sub, Kernel::sub_scalar, "sub", false};
constexpr Arithmetic kMul{Kernel::mul, Kernel::mul_scalar, "mul", true};
constexpr Arithmetic kDiv{Kernel::div, Kernel::div_scalar, "div", false};

Error not_for_bool(std::string what) {
  return Error("result-type", std::move(what), "true and false have no sign and no difference",
               "convert the tensor to a number type first");
}

Dtype type_of_result(const Arithmetic& op, Dtype promoted) {
  if (op.kernel == Kernel::div && !is_floating_point(promoted)) return kF32;
  if (op.kernel == Kernel::sub && promoted == kBool) {
    throw not_for_bool(
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
        "operator "
        "instead.");
  }
  return promoted;
}

// The value of a 0-dim CPU tensor as a kernel's scalar.
std::uint64_t number(const Tensor& tensor) { return scalar_bits(tensor.item()); }

// out <- a op b, on the device of `out`.
void apply(const Arithmetic& op, const Tensor& out, const Tensor& a, const Tensor& b) {
  const Device device = out.device();
  if (is_number_for(device, b)) return run(op.scalar_kernel, {&out, &a}, {number(b)});
  if (is_number_for(device, a)) {
    if (op.commutes) return run(op.scalar_kernel, {&out, &b}, {number(a)});
    const Tensor on_card = full({}, a.item(), {out.dtype(), device});
    return run(op.kernel, {&out, &on_card, &b});
  }
  run(op.kernel, {&out, &a, &b});
}

Tensor binary(const Arithmetic& op, const Tensor& a, const Tensor& b) {
  const Device device = common_device(op.name, {{"a", &a}, {"b", &b}});
  const Dtype dtype = type_of_result(op, result_type(a, b));
  Tensor out = make_tensor(broadcast_sizes(a.sizes(), b.sizes()), {dtype, device}, op.name);
  apply(op, out, a, b);
  return out;
}

Tensor with_scalar(const Arithmetic& op, const Tensor& a, Scalar b) {
  impl_of(a);
  const Dtype dtype = type_of_result(op, result_type(a, b));
  Tensor out = make_tensor(a.sizes(), {dtype, a.device()}, op.name);
  run(op.scalar_kernel, {&out, &a}, {scalar_bits(b.value())});
  return out;
}

const Tensor& in_place(const Arithmetic& op, const Tensor& self, const Tensor& b) {
  const NamedOperands operands{{"self", &self}, {"b", &b}};
  const Device device = common_device(op.name, operands);
  check_can_cast(type_of_result(op, result_type(self, b)), self.dtype());
  check_fills(self.sizes(), b.sizes());
  if (is_number_for(device, self)) {
    throw Error(
        "device-mismatch",
        "Expected all tensors to be on the same device, but found at least two devices, " + device.str() + " and cpu!",
        "self is a number on the CPU and would have to be changed by " + device.str(),
        "move self to " + device.str() + " first");
  }
  apply(op, self, self, b);
  return self;
}

Tensor unary(Kernel kernel, const char* name, const Tensor& x, const char* bool_text) {
  if (impl_of(x).dtype == kBool) throw not_for_bool(bool_text);
  Tensor out = make_tensor(x.sizes(), {x.dtype(), x.device()}, name);
  run(kernel, {&out, &x});
  return out;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) { return binary(kAdd, a, b); }
Tensor sub(const Tensor& a, const Tensor& b) { return binary(kSub, a, b); }
Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor out = binary(kMul, a, b);
  graph::record("MulBackward0", out, {&a, &b}, [&](graph::Saver& save) {
    return [a_sizes = a.sizes(), b_sizes = b.sizes(), a = save.if_wanted(1, a), b = save.if_wanted(0, b)](
               const Tensor& gradient, graph::Gradients& to) {
      if (to.wanted(0)) to.give(0, sum_to_size(mul(gradient, b.get()), a_sizes));
      if (to.wanted(1)) to.give(1, sum_to_size(mul(gradient, a.get()), b_sizes));
    };
  });
  return out;
}
Tensor div(const Tensor& a, const Tensor& b) { return binary(kDiv, a, b); }
Tensor add(const Tensor& a, Scalar b) { return with_scalar(kAdd, a, b); }
Tensor sub(const Tensor& a, Scalar b) { return with_scalar(kSub, a, b); }
Tensor mul(const Tensor& a, Scalar b) { return with_scalar(kMul, a, b); }
Tensor div(const Tensor& a, Scalar b) { return with_scalar(kDiv, a, b); }
const Tensor& add_(const Tensor& self, const Tensor& b) { return in_place(kAdd, self, b); }
const Tensor& sub_(const Tensor& self, const Tensor& b) { return in_place(kSub, self, b); }
const Tensor& mul_(const Tensor& self, const Tensor& b) { return in_place(kMul, self, b); }
const Tensor& div_(const Tensor& self, const Tensor& b) { return in_place(kDiv, self, b); }

Tensor relu(const Tensor& x) { return unary(Kernel::relu, "relu", x, "Boolean inputs not supported for relu"); }

Tensor neg(const Tensor& x) {
  return unary(
      Kernel::neg, "neg", x,
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
      "`~` or `logical_not()` operator instead.");
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  const Device device = common_device("masked_fill", {{"x", &x}, {"mask", &mask}});
  if (mask.dtype() != kBool) {
    throw Error("dtype-mismatch",
                std::string("masked_fill only supports boolean masks, but got dtype ") + torch_type_name(mask.dtype()),
                "a mask says for each element whether it is replaced", "convert the mask with .to(kBool)");
  }
  const Tensor on_device = mask.device() == device ? mask : mask.to(device);
  const Tensor values = x.device() == device ? x : x.to(device);
  Tensor out = make_tensor(broadcast_sizes(x.sizes(), mask.sizes()), {x.dtype(), device}, "masked_fill");
  run(Kernel::masked_fill, {&out, &values, &on_device}, {scalar_bits(value)});
  return out;
}

}  // namespace labrig
