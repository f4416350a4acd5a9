// softmax, log_softmax and their gradients, row by row along one dimension. With m the maximum of a row x:
//
//   softmax       y = exp(x - m) / sum exp(x - m)        dx = y (dy - sum dy y)
//   log_softmax   y = x - m - log sum exp(x - m)         dx = dy - exp(y) sum dy
//
// Without m, exp would overflow for x above 88 in float. Sums are kept in double.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

template <class T>
struct Row {
  T* first;
  std::int64_t stride;

  T& operator[](std::int64_t i) const { return first[i * stride]; }
};

// visit(rows) for each row along the dimension; operand 0 is written, but all come as the same type.
template <class T, std::size_t N, class Visit>
void each_row(const KernelCall& call, Visit visit) {
  const int dim = static_cast<int>(call.scalars[0]);
  std::array<Operand, N> firsts;  // the first element of each row
  std::array<const Operand*, N> operands;
  std::array<Row<T>, N> rows;
  for (std::size_t i = 0; i < N; ++i) {
    firsts[i] = call.operands[i];
    firsts[i].sizes[dim] = 1;
    operands[i] = &firsts[i];
    rows[i].stride = firsts[i].strides[dim];
  }
  Walk<N>(operands).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < N; ++k) rows[k].first = reinterpret_cast<T*>(first[k]) + i * strides[k];
      visit(rows);
    }
  });
}

template <class T>
void forward(const KernelCall& call, bool log, std::int64_t columns) {
  using V = Arithmetic<T>;
  std::vector<V> powers(static_cast<std::size_t>(columns));
  each_row<T, 2>(call, [&](const auto& rows) {
    const auto& [y, x] = rows;
    V largest = -std::numeric_limits<V>::infinity();
    for (std::int64_t i = 0; i < columns; ++i) {
      const V value = load(x[i]);
      if (value > largest || value != value) largest = value;
    }
    double total = 0;
    for (std::int64_t i = 0; i < columns; ++i) {
      const V power = powers[static_cast<std::size_t>(i)] = std::exp(load(x[i]) - largest);
      total += static_cast<double>(power);
    }
    const double log_total = std::log(total);
    for (std::int64_t i = 0; i < columns; ++i) {
      const double value = log ? static_cast<double>(load(x[i]) - largest) - log_total
                               : static_cast<double>(powers[static_cast<std::size_t>(i)]) / total;
      y[i] = store<T>(static_cast<V>(value));
    }
  });
}

template <class T>
void backward(const KernelCall& call, bool log, std::int64_t columns) {
  using V = Arithmetic<T>;
  const auto number = [](const Row<T>& row, std::int64_t i) { return static_cast<double>(load(row[i])); };
  each_row<T, 3>(call, [&](const auto& rows) {
    const auto& [dx, dy, y] = rows;
    double total = 0;
    for (std::int64_t i = 0; i < columns; ++i) total += number(dy, i) * (log ? 1 : number(y, i));
    for (std::int64_t i = 0; i < columns; ++i) {
      const double value = log ? number(dy, i) - static_cast<double>(std::exp(load(y[i]))) * total
                               : number(y, i) * (number(dy, i) - total);
      dx[i] = store<T>(static_cast<V>(value));
    }
  });
}

}  // namespace

void softmax(const KernelCall& call) {
  const bool log = call.kernel == Kernel::log_softmax || call.kernel == Kernel::log_softmax_backward;
  const std::int64_t columns = call.operands[0].sizes[static_cast<int>(call.scalars[0])];
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    call.operand_count == 2 ? forward<T>(call, log, columns) : backward<T>(call, log, columns);
  });
}

}  // namespace labrig::kernels
