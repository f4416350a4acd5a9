// The steps of training, in place. After each operation that PyTorch carries out by itself the value is rounded to the
// type of the parameter, as it is there: an eps of 1e-8 is 0 in f16.
#include "ops/map.hpp"
#include "ops/plain/kernels.hpp"

namespace labrig::kernels {
namespace {

double scalar(const KernelCall& call, std::size_t i) { return scalar_value(call.scalars[i]); }

template <class T>
Arithmetic<T> rounded(Arithmetic<T> value) {
  return load(store<T>(value));
}

// --- SGD -------------------------------------------------------------------------------------------------------------

template <class T>
struct Sgd {
  using V = Arithmetic<T>;
  explicit Sgd(const KernelCall& call)
      : lr(static_cast<V>(scalar(call, 0))),
        momentum(static_cast<V>(scalar(call, 1))),
        undamped(static_cast<V>(1 - scalar(call, 2))),
        decay(static_cast<V>(scalar(call, 3))),
        nesterov(call.scalars[4] != 0),
        first(call.scalars[5] != 0) {}

  // `buffer` is null without momentum.
  void operator()(T& parameter, T* buffer, const T& gradient) const {
    V change = load(gradient);
    if (decay != 0) change = rounded<T>(change + decay * load(parameter));
    if (buffer) {
      const V sum = first ? change : rounded<T>(rounded<T>(load(*buffer) * momentum) + undamped * change);
      *buffer = store<T>(sum);
      change = nesterov ? rounded<T>(change + momentum * sum) : sum;
    }
    parameter = store<T>(load(parameter) - lr * change);
  }

  V lr, momentum, undamped, decay;
  bool nesterov, first;
};

template <class T>
void sgd(const KernelCall& call) {
  const Sgd<T> step(call);
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

// --- Adam ------------------------------------------------------------------------------------------------------------

template <class T>
struct Adam {
  using V = Arithmetic<T>;
  explicit Adam(const KernelCall& call) {
    const double lr = scalar(call, 0), beta1 = scalar(call, 1), beta2 = scalar(call, 2);
    const auto number = static_cast<double>(static_cast<std::int64_t>(call.scalars[6]));
    decoupled = call.scalars[5] != 0;
    decay = static_cast<V>(decoupled ? 1 - lr * scalar(call, 4) : scalar(call, 4));
    weight1 = static_cast<V>(1 - beta1);
    keep2 = static_cast<V>(beta2);
    weight2 = static_cast<V>(1 - beta2);
    eps = static_cast<V>(scalar(call, 3));
    correction = static_cast<V>(std::sqrt(1 - std::pow(beta2, number)));
    rate = static_cast<V>(lr / (1 - std::pow(beta1, number)));
  }

  void operator()(T& parameter, T& average, T& squares, const T& gradient) const {
    V value = load(parameter), slope = load(gradient);
    if (decoupled)
      value = rounded<T>(value * decay);
    else if (decay != 0)
      slope = rounded<T>(slope + decay * value);
    const V mean = rounded<T>(between(load(average), slope, weight1));
    const V square = rounded<T>(rounded<T>(load(squares) * keep2) + weight2 * slope * slope);
    const V root = rounded<T>(rounded<T>(rounded<T>(std::sqrt(square)) / correction) + eps);
    average = store<T>(mean);
    squares = store<T>(square);
    parameter = store<T>(value - rate * mean / root);
  }

  // torch.lerp: from whichever end is nearer.
  static V between(V from, V to, V weight) {
    return weight < V(0.5) ? from + weight * (to - from) : to - (to - from) * (1 - weight);
  }

  V decay, weight1, keep2, weight2, eps, correction, rate;
  bool decoupled;
};

template <class T>
void adam(const KernelCall& call) {
  const Adam<T> step(call);
  Walk<4>({&call.operands[0], &call.operands[1], &call.operands[2], &call.operands[3]})
      .rows([&](const auto& first, const auto& strides, std::int64_t count) {
        T *parameter = reinterpret_cast<T*>(first[0]), *average = reinterpret_cast<T*>(first[1]),
          *squares = reinterpret_cast<T*>(first[2]);
        const T* gradient = reinterpret_cast<const T*>(first[3]);
        for (std::int64_t i = 0; i < count; ++i) {
          step(parameter[i * strides[0]], average[i * strides[1]], squares[i * strides[2]], gradient[i * strides[3]]);
        }
      });
}

// --- scaled gradients
// --------------------------------------------------------------------------------------------------

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
