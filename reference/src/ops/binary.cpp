// add, sub, mul, div: the result has the shape that the operands broadcast to and the type that they promote to.
#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/gradient.hpp"
#include "ops/operands.hpp"
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

Dtype type_of_result(const Arithmetic& op, Dtype promoted) {
  if (op.kernel == Kernel::div && !is_floating_point(promoted)) return kF32;
  if (op.kernel == Kernel::sub && promoted == kBool) {
    throw Error("result-type",
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                "`logical_xor()` operator instead.",
                "true and false have no difference", "convert one of the tensors to a number type first");
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
    const Tensor on_card = filled({}, a.item(), {out.dtype(), device});
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

void in_place(const Arithmetic& op, const Tensor& self, const Tensor& b) {
  graph::check_in_place(self, b);
  const Device device = common_device(op.name, {{"self", &self}, {"b", &b}});
  check_can_cast(type_of_result(op, result_type(self, b)), self.dtype());
  check_fills(self.sizes(), b.sizes());
  if (is_number_for(device, self)) {
    throw Error(
        "device-mismatch",
        "Expected all tensors to be on the same device, but found at least two devices, " + device.str() + " and cpu!",
        std::string(op.name) + " changes self, a number on the CPU, in place: " + described({"self", &self}) + "; " +
            described({"b", &b}),
        "move self to " + device.str() + " first");
  }
  apply(op, self, self, b);
}

void in_place(const Arithmetic& op, const Tensor& self, Scalar b) {
  graph::check_in_place(self);
  check_can_cast(type_of_result(op, result_type(self, b)), self.dtype());
  run(op.scalar_kernel, {&self, &self}, {scalar_bits(b.value())});
}

// --- the way back ----------------------------------------------------------------------------------------------------

// Of a + b and a - b.
graph::Backward sum_backward(const Tensor& a, const Tensor& b, bool minus) {
  return [a_form = InputForm(a), b_form = InputForm(b), minus](const Tensor& gradient, graph::Gradients& to) {
    if (to.wanted(0)) to.give(0, a_form.fit(gradient));
    if (to.wanted(1)) to.give(1, b_form.fit(minus ? neg(gradient) : gradient));
  };
}

// Of a * b, of which each needs the other's value.
graph::Backward mul_backward(const graph::Saver& save, const Tensor& a, const Tensor& b, const Tensor& a_value,
                             const Tensor& b_value) {
  return [a_form = InputForm(a), b_form = InputForm(b), a_value = save.if_wanted(1, a_value),
          b_value = save.if_wanted(0, b_value)](const Tensor& gradient, graph::Gradients& to) {
    if (to.wanted(0)) to.give(0, a_form.fit(mul(gradient, b_value.get())));
    if (to.wanted(1)) to.give(1, b_form.fit(mul(gradient, a_value.get())));
  };
}

// Of a / b: 1 / b, and -a / b^2.
graph::Backward div_backward(const graph::Saver& save, const Tensor& a, const Tensor& b, const Tensor& a_value,
                             const Tensor& b_value) {
  return [a_form = InputForm(a), b_form = InputForm(b), a_value = save.if_wanted(1, a_value), b_value = save(b_value)](
             const Tensor& gradient, graph::Gradients& to) {
    const Tensor divisor = b_value.get();
    if (to.wanted(0)) to.give(0, a_form.fit(div(gradient, divisor)));
    if (to.wanted(1)) to.give(1, b_form.fit(mul(neg(gradient), div(div(a_value.get(), divisor), divisor))));
  };
}

// What an operation in place must keep of its operands before it writes: a copy of the old self where the gradient of b
// is made of it, and one of b where that is part of what is written.
struct Before {
  Before(const Tensor& written, const Tensor& read) : b(read) {
    const Tensor* const inputs[] = {&written, &read};
    if (!graph::is_needed(inputs)) return;
    const NoGradGuard guard;
    if (read.requires_grad()) self = written.clone();
    if (impl_of(written).storage == impl_of(read).storage) b = read.clone();
  }
  Tensor self, b;
};

// A number: the gradient of the tensor beside it is `change` of that of the result.
template <class Change>
Tensor with_number(const Arithmetic& op, const char* node, const Tensor& a, Scalar b, Change change) {
  Tensor out = with_scalar(op, a, b);
  graph::record(node, out, {&a}, [&](graph::Saver&) {
    return [change](const Tensor& gradient, graph::Gradients& to) { to.give(0, change(gradient)); };
  });
  return out;
}
template <class Change>
const Tensor& with_number_(const Arithmetic& op, const char* node, const Tensor& self, Scalar b, Change change) {
  in_place(op, self, b);
  graph::record_in_place(node, self, {&self}, [&](graph::Saver&) {
    return [change](const Tensor& gradient, graph::Gradients& to) { to.give(0, change(gradient)); };
  });
  return self;
}

const auto kSame = [](const Tensor& gradient) { return gradient; };
auto times(Scalar b) {
  return [b](const Tensor& gradient) { return mul(gradient, b); };
}
auto divided_by(Scalar b) {
  return [b](const Tensor& gradient) { return div(gradient, b); };
}

}  // namespace

// --- of two tensors ------------------------------------------------------------------------------------------------

Tensor add(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("add", a_in, b_in);
  Tensor out = binary(kAdd, a, b);
  graph::record("AddBackward0", out, {&a, &b}, [&](graph::Saver&) { return sum_backward(a, b, false); });
  return out;
}

Tensor sub(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("sub", a_in, b_in);
  Tensor out = binary(kSub, a, b);
  graph::record("SubBackward0", out, {&a, &b}, [&](graph::Saver&) { return sum_backward(a, b, true); });
  return out;
}

Tensor mul(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("mul", a_in, b_in);
  Tensor out = binary(kMul, a, b);
  graph::record("MulBackward0", out, {&a, &b}, [&](graph::Saver& save) { return mul_backward(save, a, b, a, b); });
  return out;
}

Tensor div(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("div", a_in, b_in);
  Tensor out = binary(kDiv, a, b);
  graph::record("DivBackward0", out, {&a, &b}, [&](graph::Saver& save) { return div_backward(save, a, b, a, b); });
  return out;
}

const Tensor& add_(const Tensor& self, const Tensor& b) {
  in_place(kAdd, self, b);
  graph::record_in_place("AddBackward0", self, {&self, &b},
                         [&](graph::Saver&) { return sum_backward(self, b, false); });
  return self;
}

const Tensor& sub_(const Tensor& self, const Tensor& b) {
  in_place(kSub, self, b);
  graph::record_in_place("SubBackward0", self, {&self, &b}, [&](graph::Saver&) { return sum_backward(self, b, true); });
  return self;
}

const Tensor& mul_(const Tensor& self, const Tensor& b) {
  const Before before(self, b);
  in_place(kMul, self, b);
  graph::record_in_place("MulBackward0", self, {&self, &b},
                         [&](graph::Saver& save) { return mul_backward(save, self, b, before.self, before.b); });
  return self;
}

const Tensor& div_(const Tensor& self, const Tensor& b) {
  const Before before(self, b);
  in_place(kDiv, self, b);
  graph::record_in_place("DivBackward0", self, {&self, &b},
                         [&](graph::Saver& save) { return div_backward(save, self, b, before.self, before.b); });
  return self;
}

// --- of a tensor and a number --------------------------------------------------------------------------------------

Tensor add(const Tensor& a, Scalar b) { return with_number(kAdd, "AddBackward0", a, b, kSame); }
Tensor sub(const Tensor& a, Scalar b) { return with_number(kSub, "SubBackward0", a, b, kSame); }
Tensor mul(const Tensor& a, Scalar b) { return with_number(kMul, "MulBackward0", a, b, times(b)); }
Tensor div(const Tensor& a, Scalar b) { return with_number(kDiv, "DivBackward0", a, b, divided_by(b)); }
const Tensor& add_(const Tensor& self, Scalar b) { return with_number_(kAdd, "AddBackward0", self, b, kSame); }
const Tensor& sub_(const Tensor& self, Scalar b) { return with_number_(kSub, "SubBackward0", self, b, kSame); }
const Tensor& mul_(const Tensor& self, Scalar b) { return with_number_(kMul, "MulBackward0", self, b, times(b)); }
const Tensor& div_(const Tensor& self, Scalar b) { return with_number_(kDiv, "DivBackward0", self, b, divided_by(b)); }

}  // namespace labrig
