// layer_norm over the rows of x [rows, columns], and its two gradients. With x^ = (x - mean) rstd and g = dy weight:
//
//   y = x^ weight + bias     dx = rstd (g - mean of g - x^ mean of (g x^))     dweight = sum dy x^     dbias = sum dy
//
// The means run over a row, the sums over a column. Everything is computed in double and rounded once.
#include <cmath>

#include "ops/plain/kernels.hpp"
#include "ops/plain/parameters.hpp"

namespace labrig::kernels {
namespace {

// Element i, counted along dimension 0, of an operand that has one or more; a row of [rows, columns] likewise.
template <class T>
T* row_of(const Operand& operand, std::int64_t i) {
  return static_cast<T*>(operand.data) + i * operand.strides[0];
}
template <class T>
double number(const T* row, const Operand& operand, std::int64_t j) {
  return static_cast<double>(load(row[j * operand.strides[1]]));
}
template <class T>
void put(T* row, const Operand& operand, std::int64_t j, double value) {
  row[j * operand.strides[1]] = store<T>(static_cast<Arithmetic<T>>(value));
}

template <class T>
void forward(const KernelCall& call) {
  const auto& [out, mean, rstd, x, weight, bias, unused6, unused7] = call.operands;
  const std::int64_t rows = x.sizes[0], columns = x.sizes[1];
  const double eps = scalar_value(call.scalars[0]), count = static_cast<double>(columns);
  const auto weights = read_parameters(weight, columns, 1), biases = read_parameters(bias, columns, 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* from = row_of<T>(x, i);
    T* to = row_of<T>(out, i);
    double sum = 0, squares = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += number(from, x, j);
    const double middle = sum / count;
    for (std::int64_t j = 0; j < columns; ++j) {
      const double distance = number(from, x, j) - middle;
      squares += distance * distance;
    }
    const double scale = 1 / std::sqrt(squares / count + eps);
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      put(to, out, j, (number(from, x, j) - middle) * scale * weights[at] + biases[at]);
    }
    *row_of<Statistic<T>>(mean, i) = static_cast<Statistic<T>>(middle);
    *row_of<Statistic<T>>(rstd, i) = static_cast<Statistic<T>>(scale);
  }
}

template <class T>
void backward(const KernelCall& call) {
  const auto& [dx, dy, x, weight, mean, rstd, unused6, unused7] = call.operands;
  const std::int64_t rows = x.sizes[0], columns = x.sizes[1];
  const auto weights = read_parameters(weight, columns, 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    const T *from = row_of<T>(x, i), *gradient = row_of<T>(dy, i);
    const double middle = static_cast<double>(*row_of<Statistic<T>>(mean, i));
    const double scale = static_cast<double>(*row_of<Statistic<T>>(rstd, i));
    const auto normalized = [&](std::int64_t j) { return (number(from, x, j) - middle) * scale; };
    const auto weighted = [&](std::int64_t j) {
      return number(gradient, dy, j) * weights[static_cast<std::size_t>(j)];
    };
    double sum = 0, product = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      sum += weighted(j);
      product += weighted(j) * normalized(j);
    }
    const double shift = sum / static_cast<double>(columns), slope = product / static_cast<double>(columns);
    T* to = row_of<T>(dx, i);
    for (std::int64_t j = 0; j < columns; ++j) {
      put(to, dx, j, scale * (weighted(j) - shift - normalized(j) * slope));
    }
  }
}

template <class T>
void weight_backward(const KernelCall& call) {
  const auto& [dweight, dbias, dy, x, mean, rstd, unused6, unused7] = call.operands;
  const std::int64_t rows = x.sizes[0], columns = x.sizes[1];
  std::vector<double> products(static_cast<std::size_t>(columns)), sums(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    const T *from = row_of<T>(x, i), *gradient = row_of<T>(dy, i);
    const double middle = static_cast<double>(*row_of<Statistic<T>>(mean, i));
    const double scale = static_cast<double>(*row_of<Statistic<T>>(rstd, i));
    for (std::int64_t j = 0; j < columns; ++j) {
      products[static_cast<std::size_t>(j)] += number(gradient, dy, j) * (number(from, x, j) - middle) * scale;
      sums[static_cast<std::size_t>(j)] += number(gradient, dy, j);
    }
  }
  write_parameters(dweight, products);
  write_parameters(dbias, sums);
}

}  // namespace

void layer_norm(const KernelCall& call) {
  const bool weights = call.kernel == Kernel::layer_norm_weight_backward;
  dispatch_float(call.operands[weights ? 2 : 0].dtype, [&]<class T>() {
    if (weights) return weight_backward<T>(call);
    return call.kernel == Kernel::layer_norm ? forward<T>(call) : backward<T>(call);
  });
}

}  // namespace labrig::kernels
