// The steps of training, in place. Read next: ops/step_formulas.hpp, for what they compute.
#include "ops/map.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/step_formulas.hpp"

namespace labrig::kernels {
namespace {

double scalar(const KernelCall& call, std::size_t i) { return scalar_value(call.scalars[i]); }

template <class T>
Arithmetic<T> rounded(Arithmetic<T> value) {
  return load(store<T>(value));
}

template <class T>
void sgd(const KernelCall& call) {
  using V = Arithmetic<T>;
  const auto formula = formula::Sgd<V>::of(call);
  const auto step = [&formula](T& parameter, T* buffer, const T& gradient) {
    V value = load(parameter), sum = buffer == nullptr ? V{0} : load(*buffer);
    formula(value, buffer == nullptr ? nullptr : &sum, load(gradient), rounded<T>);
    parameter = store<T>(value);
    if (buffer != nullptr) *buffer = store<T>(sum);
  };
  const Operand &parameter = call.operands[0], &buffer = call.operands[1], &gradient = call.operands[2];
  if (is_absent(buffer)) {
    return Walk<2>({&parameter, &gradient}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
      T* to = reinterpret_cast<T*>(first[0]);
      const T* from = reinterpret_cast<const T*>(first[1]);
      for (std::int64_t i = 0; i < count; ++i) step(to[i * strides[0]], nullptr, from[i * strides[1]]);
    });
  }
  Walk<3>({&parameter, &buffer, &gradient}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    T *to = reinterpret_cast<T*>(first[0]), *sums = reinterpret_cast<T*>(first[1]);
    const T* from = reinterpret_cast<const T*>(first[2]);
    for (std::int64_t i = 0; i < count; ++i) step(to[i * strides[0]], &sums[i * strides[1]], from[i * strides[2]]);
  });
}

template <class T>
void adam(const KernelCall& call) {
  using V = Arithmetic<T>;
  const auto formula = formula::Adam<V>::of(call);
  Walk<4>({&call.operands[0], &call.operands[1], &call.operands[2], &call.operands[3]})
      .rows([&](const auto& first, const auto& strides, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          const auto at = [&](std::size_t operand) -> T& {
            return reinterpret_cast<T*>(first[operand])[i * strides[operand]];
          };
          V parameter = load(at(0)), average = load(at(1)), squares = load(at(2));
          formula(parameter, average, squares, load(at(3)), rounded<T>);
          at(0) = store<T>(parameter);
          at(1) = store<T>(average);
          at(2) = store<T>(squares);
        }
      });
}

// --- scaled gradients ----------------------------------------------------------------------------------------------

template <class T>
void unscale(const KernelCall& call) {
  const float inverse = *static_cast<const float*>(call.operands[2].data);
  bool found = false;
  Walk<1>({&call.operands[0]}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    T* gradient = reinterpret_cast<T*>(first[0]);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = load(gradient[i * strides[0]]);
      found |= !std::isfinite(value);
      if (inverse != 1) gradient[i * strides[0]] = store<T>(value * inverse);
    }
  });
  if (found) *static_cast<float*>(call.operands[1].data) = 1;
}

void update_scale(const KernelCall& call) {
  auto& scale = *static_cast<float*>(call.operands[0].data);
  auto& tracker = *static_cast<std::int32_t*>(call.operands[1].data);
  const float found_inf = *static_cast<const float*>(call.operands[2].data);
  if (found_inf != 0) {
    scale = static_cast<float>(scale * scalar(call, 1));
    tracker = 0;
    return;
  }
  const auto good_steps = std::int64_t{tracker} + 1;
  if (good_steps != static_cast<std::int64_t>(call.scalars[2])) {
    tracker = static_cast<std::int32_t>(good_steps);
    return;
  }
  const auto grown = static_cast<float>(scale * scalar(call, 0));
  if (std::isfinite(grown)) scale = grown;
  tracker = 0;
}

}  // namespace

void step(const KernelCall& call) {
  const Dtype dtype = call.operands[0].dtype;
  switch (call.kernel) {
    case Kernel::sgd_step:
      return dispatch_float(dtype, [&]<class T>() { sgd<T>(call); });
    case Kernel::adam_step:
      return dispatch_float(dtype, [&]<class T>() { adam<T>(call); });
    case Kernel::amp_unscale:
      return dispatch_float(dtype, [&]<class T>() { unscale<T>(call); });
    default:
      return update_scale(call);
  }
}

}  // namespace labrig::kernels
