// Functions of one element, and in place: neg, exp, log, sqrt, tanh, sigmoid, relu, gelu, clamp. What the way back
// needs is the result where the gradient can be told from it, for then nothing is kept that would not be alive anyway,
// and the input otherwise: PyTorch's choice for each.
#include <cmath>
#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

enum class Saves { nothing, input, result };

// A function without further numbers.
struct Function {
  Kernel kernel;
  const char* name;
  const char* node;
  Saves saves;
  Tensor (*backward)(const Tensor& gradient, const Tensor& saved);
};

// A backward kernel: gradient of the input <- gradient of the result, what was saved.
Tensor backward_of(Kernel kernel, const char* name, const Tensor& gradient, const Tensor& saved,
                   std::uint64_t scalar0 = 0, std::uint64_t scalar1 = 0) {
  Tensor out = make_tensor(saved.sizes(), {saved.dtype(), saved.device()}, name);
  run(kernel, {&out, &gradient, &saved}, {scalar0, scalar1});
  return out;
}
template <Kernel kernel>
Tensor through(const Tensor& gradient, const Tensor& saved) {
  return backward_of(kernel, "gradient", gradient, saved);
}

constexpr Function kNeg{Kernel::neg, "neg", "NegBackward0", Saves::nothing,
                        [](const Tensor& gradient, const Tensor&) { return neg(gradient); }};
constexpr Function kExp{Kernel::exp, "exp", "ExpBackward0", Saves::result,
                        [](const Tensor& gradient, const Tensor& y) { return mul(gradient, y); }};
constexpr Function kLog{Kernel::log, "log", "LogBackward0", Saves::input,
                        [](const Tensor& gradient, const Tensor& x) { return div(gradient, x); }};
constexpr Function kSqrt{Kernel::sqrt, "sqrt", "SqrtBackward0", Saves::result, through<Kernel::sqrt_backward>};
constexpr Function kTanh{Kernel::tanh, "tanh", "TanhBackward0", Saves::result, through<Kernel::tanh_backward>};
constexpr Function kSigmoid{Kernel::sigmoid, "sigmoid", "SigmoidBackward0", Saves::result,
                            through<Kernel::sigmoid_backward>};
constexpr Function kRelu{Kernel::relu, "relu", "ReluBackward0", Saves::result, through<Kernel::relu_backward>};

// Whole numbers stay what they are under neg and relu; the others give f32.
Dtype type_of_result(const Function& function, const Tensor& x) {
  const Dtype dtype = impl_of(x).dtype;
  const bool keeps_integers = function.kernel == Kernel::neg || function.kernel == Kernel::relu;
  if (keeps_integers && dtype == kBool) {
    throw Error("result-type",
                function.kernel == Kernel::relu
                    ? "Boolean inputs not supported for relu"
                    : "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
                      "mask, use the `~` or `logical_not()` operator instead.",
                "true and false have no sign", "convert the tensor to a number type first");
  }
  return keeps_integers || is_floating_point(dtype) ? dtype : kF32;
}

graph::Backward backward_of(const Function& function, graph::SavedTensor saved) {
  return [&function, saved = std::move(saved)](const Tensor& gradient, graph::Gradients& to) {
    to.give(0, function.backward(gradient, saved.get()));
  };
}

// `function` is one of the constants above.
Tensor apply(const Function& function, const Tensor& x_in) {
  const auto [x] = autocast(function.name, x_in);
  Tensor out = make_tensor(x.sizes(), {type_of_result(function, x), x.device()}, function.name);
  run(function.kernel, {&out, &x});
  graph::record(function.node, out, {&x}, [&](graph::Saver& save) {
    return backward_of(function, function.saves == Saves::nothing ? graph::SavedTensor{}
                                 : function.saves == Saves::input ? save(x)
                                                                  : save(out));
  });
  return out;
}

// The values of self before an operation in place, where the way back will need them; else undefined.
Tensor value_before(const Tensor& self) {
  const Tensor* const inputs[] = {&self};
  if (!graph::is_needed(inputs)) return {};
  const NoGradGuard guard;
  return self.clone();
}

const Tensor& apply_(const Function& function, const Tensor& self) {
  graph::check_in_place(self);
  check_can_cast(type_of_result(function, self), self.dtype());
  const Tensor before = function.saves == Saves::input ? value_before(self) : Tensor();
  run(function.kernel, {&self, &self});
  graph::record_in_place(function.node, self, {&self}, [&](graph::Saver& save) {
    return backward_of(function, save(function.saves == Saves::result ? self : before));
  });
  return self;
}

// --- clamp -----------------------------------------------------------------------------------------------------------

// A bound that is no whole number makes whole numbers f32.
Dtype clamped_type(const Tensor& x, double low, double high) {
  const auto is_whole = [](double bound) { return std::isinf(bound) || bound == std::trunc(bound); };
  return is_whole(low) && is_whole(high) ? result_type(x, 0) : result_type(x, 0.0);
}

graph::Backward clamp_backward(graph::SavedTensor x, double low, double high) {
  return [x = std::move(x), low, high](const Tensor& gradient, graph::Gradients& to) {
    to.give(0, backward_of(Kernel::clamp_backward, "gradient", gradient, x.get(), scalar_bits(low), scalar_bits(high)));
  };
}

}  // namespace

Tensor neg(const Tensor& x) { return apply(kNeg, x); }
Tensor exp(const Tensor& x) { return apply(kExp, x); }
Tensor log(const Tensor& x) { return apply(kLog, x); }
Tensor sqrt(const Tensor& x) { return apply(kSqrt, x); }
Tensor tanh(const Tensor& x) { return apply(kTanh, x); }
Tensor sigmoid(const Tensor& x) { return apply(kSigmoid, x); }
Tensor relu(const Tensor& x) { return apply(kRelu, x); }
const Tensor& neg_(const Tensor& x) { return apply_(kNeg, x); }
const Tensor& exp_(const Tensor& x) { return apply_(kExp, x); }
const Tensor& log_(const Tensor& x) { return apply_(kLog, x); }
const Tensor& sqrt_(const Tensor& x) { return apply_(kSqrt, x); }
const Tensor& tanh_(const Tensor& x) { return apply_(kTanh, x); }
const Tensor& sigmoid_(const Tensor& x) { return apply_(kSigmoid, x); }
const Tensor& relu_(const Tensor& x) { return apply_(kRelu, x); }

Tensor gelu(const Tensor& x_in, Gelu approximate) {
  const auto [x] = autocast("gelu", x_in);
  if (!is_floating_point(impl_of(x).dtype)) {
    throw Error(
        "dtype-mismatch", std::string("\"GeluKernelImpl\" not implemented for '") + torch_type_name(x.dtype()) + "'",
        "gelu is a smooth function and has no values among the whole numbers", "convert the tensor to f32 first");
  }
  const std::uint64_t form = approximate == Gelu::tanh ? 1 : 0;
  Tensor out = make_tensor(x.sizes(), {x.dtype(), x.device()}, "gelu");
  run(Kernel::gelu, {&out, &x}, {form});
  graph::record("GeluBackward0", out, {&x}, [&](graph::Saver& save) {
    return [x = save(x), form](const Tensor& gradient, graph::Gradients& to) {
      to.give(0, backward_of(Kernel::gelu_backward, "gradient", gradient, x.get(), form));
    };
  });
  return out;
}

Tensor clamp(const Tensor& x_in, double low, double high) {
  const auto [x] = autocast("clamp", x_in);
  Tensor out = make_tensor(x.sizes(), {clamped_type(x, low, high), x.device()}, "clamp");
  run(Kernel::clamp, {&out, &x}, {scalar_bits(low), scalar_bits(high)});
  graph::record("ClampBackward1", out, {&x}, [&](graph::Saver& save) { return clamp_backward(save(x), low, high); });
  return out;
}

const Tensor& clamp_(const Tensor& self, double low, double high) {
  graph::check_in_place(self);
  check_can_cast(clamped_type(self, low, high), self.dtype());
  const Tensor before = value_before(self);
  run(Kernel::clamp, {&self, &self}, {scalar_bits(low), scalar_bits(high)});
  graph::record_in_place("ClampBackward1", self, {&self},
                         [&](graph::Saver& save) { return clamp_backward(save(before), low, high); });
  return self;
}

}  // namespace labrig
