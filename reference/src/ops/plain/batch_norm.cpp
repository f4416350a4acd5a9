// batch_norm over x [n, c, s]: every channel by itself, over n and s. In training with the statistics of the batch,
// which also move the running ones (by the unbiased variance); in evaluation with given ones. With x^ = (x - mean)
// rstd:
//
//   training     dx = weight rstd (dy - mean of dy - x^ mean of (dy x^))     dweight = sum dy x^     dbias = sum dy
//   evaluation   dx = weight rstd dy                                          the same
//
// Memory is read in the order in which it lies, with a sum for every channel; each channel's terms come in the order of
// n, then s. Everything is computed in double and rounded once.
#include <cmath>

#include "ops/plain/kernels.hpp"
#include "ops/plain/parameters.hpp"

namespace labrig::kernels {
namespace {

using Channels = std::vector<double>;  // one number each

// Elements s = 0, 1, … of one channel of one sample, as double.
template <class T>
class Line {
 public:
  Line(const Operand& operand, std::int64_t n, std::int64_t c)
      : first_(static_cast<T*>(operand.data) + n * operand.strides[0] + c * operand.strides[1]),
        stride_(operand.strides[2]) {}

  double operator[](std::int64_t s) const { return static_cast<double>(load(first_[s * stride_])); }
  void put(std::int64_t s, double value) const { first_[s * stride_] = store<T>(static_cast<Arithmetic<T>>(value)); }

 private:
  T* first_;
  std::int64_t stride_;
};

// visit(n, c, channel) for every line of [n, c, s].
template <class Visit>
void each_line(const Dims& sizes, Visit visit) {
  for (std::int64_t n = 0; n < sizes[0]; ++n) {
    for (std::int64_t c = 0; c < sizes[1]; ++c) visit(n, c, static_cast<std::size_t>(c));
  }
}

// out <- (x - mean) scale + shift
template <class T>
void normalize(const Operand& out, const Operand& x, const Channels& means, const Channels& scales,
               const Channels& shifts) {
  const std::int64_t count = x.sizes[2];
  each_line(x.sizes, [&](std::int64_t n, std::int64_t c, std::size_t i) {
    const Line<T> to(out, n, c), from(x, n, c);
    for (std::int64_t s = 0; s < count; ++s) to.put(s, (from[s] - means[i]) * scales[i] + shifts[i]);
  });
}

struct Statistics {
  Channels means, squares;  // squares: the sum of the squared distances from the mean
};

template <class T>
Statistics statistics_of(const Operand& x) {
  const std::int64_t count = x.sizes[2];
  const double elements = static_cast<double>(x.sizes[0] * count);
  const auto channels = static_cast<std::size_t>(x.sizes[1]);
  Statistics found{Channels(channels), Channels(channels)};
  each_line(x.sizes, [&](std::int64_t n, std::int64_t c, std::size_t i) {
    const Line<T> from(x, n, c);
    for (std::int64_t s = 0; s < count; ++s) found.means[i] += from[s];
  });
  for (double& mean : found.means) mean /= elements;
  each_line(x.sizes, [&](std::int64_t n, std::int64_t c, std::size_t i) {
    const Line<T> from(x, n, c);
    for (std::int64_t s = 0; s < count; ++s) {
      const double distance = from[s] - found.means[i];
      found.squares[i] += distance * distance;
    }
  });
  return found;
}

template <class T>
void training(const KernelCall& call) {
  const auto& [out, mean, rstd, running_mean, running_var, x, weight, bias] = call.operands;
  const std::int64_t channels = x.sizes[1];
  const double eps = scalar_value(call.scalars[0]), momentum = scalar_value(call.scalars[1]);
  const double count = static_cast<double>(x.sizes[0] * x.sizes[2]);
  const Statistics batch = statistics_of<T>(x);
  Channels scales = read_parameters(weight, channels, 1), deviations = batch.squares;
  Channels averages = read_parameters(running_mean, channels, 0), variances = read_parameters(running_var, channels, 0);
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    deviations[i] = 1 / std::sqrt(batch.squares[i] / count + eps);
    scales[i] *= deviations[i];
    averages[i] += momentum * (batch.means[i] - averages[i]);
    variances[i] += momentum * (batch.squares[i] / (count - 1) - variances[i]);
  }
  normalize<T>(out, x, batch.means, scales, read_parameters(bias, channels, 0));
  write_parameters(mean, batch.means);
  write_parameters(rstd, deviations);
  write_parameters(running_mean, averages);
  write_parameters(running_var, variances);
}

template <class T>
void evaluation(const KernelCall& call) {
  const auto& [out, x, mean, variance, weight, bias, unused6, unused7] = call.operands;
  const std::int64_t channels = x.sizes[1];
  const double eps = scalar_value(call.scalars[0]);
  Channels scales = read_parameters(weight, channels, 1);
  const Channels variances = read_parameters(variance, channels, 1);
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] /= std::sqrt(variances[i] + eps);
  normalize<T>(out, x, read_parameters(mean, channels, 0), scales, read_parameters(bias, channels, 0));
}

template <class T>
void backward(const KernelCall& call) {
  const auto& [dx, dweight, dbias, dy, x, weight, mean, deviation] = call.operands;
  const std::int64_t channels = x.sizes[1], count = x.sizes[2];
  const bool of_batch = call.scalars[0] != 0;  // else the last operand is a variance
  const double eps = scalar_value(call.scalars[1]), elements = static_cast<double>(x.sizes[0] * count);
  const Channels weights = read_parameters(weight, channels, 1), means = read_parameters(mean, channels, 0);
  Channels scales = read_parameters(deviation, channels, 1);
  for (double& scale : scales) scale = of_batch ? scale : 1 / std::sqrt(scale + eps);

  Channels products(scales.size()), sums(scales.size());
  each_line(x.sizes, [&](std::int64_t n, std::int64_t c, std::size_t i) {
    const Line<T> gradient(dy, n, c), from(x, n, c);
    for (std::int64_t s = 0; s < count; ++s) {
      sums[i] += gradient[s];
      products[i] += gradient[s] * (from[s] - means[i]) * scales[i];
    }
  });
  each_line(x.sizes, [&](std::int64_t n, std::int64_t c, std::size_t i) {
    const Line<T> to(dx, n, c), gradient(dy, n, c), from(x, n, c);
    const double shift = of_batch ? sums[i] / elements : 0, slope = of_batch ? products[i] / elements : 0;
    for (std::int64_t s = 0; s < count; ++s) {
      const double normalized = (from[s] - means[i]) * scales[i];
      to.put(s, weights[i] * scales[i] * (gradient[s] - shift - normalized * slope));
    }
  });
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
