// batch_norm over x [n, c, s]: every channel by itself, over n and s. In training with the statistics of the batch,
// which also move the running ones (by the unbiased variance); in evaluation with given ones. With x^ = (x - mean)
// rstd:
//
//   training     dx = weight rstd (dy - mean of dy - x^ mean of (dy x^))     dweight = sum dy x^     dbias = sum dy
//   evaluation   dx = weight rstd dy                                          the same
#include <cmath>

#include "ops/plain/kernels.hpp"
#include "ops/plain/parameters.hpp"

namespace labrig::kernels {
namespace {

// The elements of one channel of an operand, as double.
template <class T>
class Channel {
 public:
  Channel(const Operand& operand, std::int64_t c)
      : first_(static_cast<T*>(operand.data) + c * operand.strides[1]), operand_(operand) {}

  double operator()(std::int64_t n, std::int64_t s) const { return static_cast<double>(load(at(n, s))); }
  void put(std::int64_t n, std::int64_t s, double value) const {
    at(n, s) = store<T>(static_cast<Arithmetic<T>>(value));
  }

 private:
  T& at(std::int64_t n, std::int64_t s) const { return first_[n * operand_.strides[0] + s * operand_.strides[2]]; }

  T* first_;
  const Operand& operand_;
};

// visit(n, s) for every element of a channel.
template <class Visit>
void each(const Dims& sizes, Visit visit) {
  for (std::int64_t n = 0; n < sizes[0]; ++n) {
    for (std::int64_t s = 0; s < sizes[2]; ++s) visit(n, s);
  }
}

double elements_of_channel(const Dims& sizes) { return static_cast<double>(sizes[0] * sizes[2]); }
std::size_t index(std::int64_t c) { return static_cast<std::size_t>(c); }

// out <- (x - mean) rstd weight + bias
template <class T>
void normalize(const Operand& out, const Operand& x, std::int64_t c, double mean, double scale, double shift) {
  const Channel<T> to(out, c), from(x, c);
  each(x.sizes, [&](std::int64_t n, std::int64_t s) { to.put(n, s, (from(n, s) - mean) * scale + shift); });
}

template <class T>
void training(const KernelCall& call) {
  const auto& [out, mean, rstd, running_mean, running_var, x, weight, bias] = call.operands;
  const std::int64_t channels = x.sizes[1];
  const double eps = scalar_value(call.scalars[0]), momentum = scalar_value(call.scalars[1]);
  const double count = elements_of_channel(x.sizes);
  const auto weights = read_parameters(weight, channels, 1), biases = read_parameters(bias, channels, 0);
  auto averages = read_parameters(running_mean, channels, 0), variances = read_parameters(running_var, channels, 0);
  std::vector<double> means(index(channels)), scales(index(channels));
  for (std::int64_t c = 0; c < channels; ++c) {
    const Channel<T> from(x, c);
    double sum = 0, squares = 0;
    each(x.sizes, [&](std::int64_t n, std::int64_t s) { sum += from(n, s); });
    const double middle = sum / count;
    each(x.sizes, [&](std::int64_t n, std::int64_t s) {
      const double distance = from(n, s) - middle;
      squares += distance * distance;
    });
    const std::size_t i = index(c);
    means[i] = middle;
    scales[i] = 1 / std::sqrt(squares / count + eps);
    averages[i] += momentum * (middle - averages[i]);
    variances[i] += momentum * (squares / (count - 1) - variances[i]);
    normalize<T>(out, x, c, middle, scales[i] * weights[i], biases[i]);
  }
  write_parameters(mean, means);
  write_parameters(rstd, scales);
  write_parameters(running_mean, averages);
  write_parameters(running_var, variances);
}

template <class T>
void evaluation(const KernelCall& call) {
  const auto& [out, x, mean, variance, weight, bias, unused6, unused7] = call.operands;
  const std::int64_t channels = x.sizes[1];
  const double eps = scalar_value(call.scalars[0]);
  const auto weights = read_parameters(weight, channels, 1), biases = read_parameters(bias, channels, 0);
  const auto means = read_parameters(mean, channels, 0), variances = read_parameters(variance, channels, 1);
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::size_t i = index(c);
    normalize<T>(out, x, c, means[i], weights[i] / std::sqrt(variances[i] + eps), biases[i]);
  }
}

template <class T>
void backward(const KernelCall& call) {
  const auto& [dx, dweight, dbias, dy, x, weight, mean, deviation] = call.operands;
  const std::int64_t channels = x.sizes[1];
  const bool of_batch = call.scalars[0] != 0;  // else the last operand is a variance
  const double eps = scalar_value(call.scalars[1]), count = elements_of_channel(x.sizes);
  const auto weights = read_parameters(weight, channels, 1), means = read_parameters(mean, channels, 0);
  const auto deviations = read_parameters(deviation, channels, 1);
  std::vector<double> products(index(channels)), sums(index(channels));
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::size_t i = index(c);
    const Channel<T> to(dx, c), gradient(dy, c), from(x, c);
    const double scale = of_batch ? deviations[i] : 1 / std::sqrt(deviations[i] + eps);
    const auto normalized = [&](std::int64_t n, std::int64_t s) { return (from(n, s) - means[i]) * scale; };
    each(x.sizes, [&](std::int64_t n, std::int64_t s) {
      sums[i] += gradient(n, s);
      products[i] += gradient(n, s) * normalized(n, s);
    });
    const double shift = of_batch ? sums[i] / count : 0, slope = of_batch ? products[i] / count : 0;
    each(x.sizes, [&](std::int64_t n, std::int64_t s) {
      to.put(n, s, weights[i] * scale * (gradient(n, s) - shift - normalized(n, s) * slope));
    });
  }
  write_parameters(dweight, products);
  write_parameters(dbias, sums);
}

}  // namespace

void batch_norm(const KernelCall& call) {
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    switch (call.kernel) {
      case Kernel::batch_norm:
        return training<T>(call);
      case Kernel::batch_norm_eval:
        return evaluation<T>(call);
      default:
        return backward<T>(call);
    }
  });
}

}  // namespace labrig::kernels
