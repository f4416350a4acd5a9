// The negative log likelihood of target classes. With w the weight of the target's class (1 without weights, 0 for the
// ignored class):
//
//   loss of a target   -w log p[target]        sum: all added        mean: divided by the sum of w
//
// The mean over no weight at all is 0 / 0, NaN, as in PyTorch. Targets are looked at before anything is written.
#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

enum Reduction : std::uint64_t { none, mean };  // else the sum

// The targets [n, s] and what they mean.
struct Targets {
  const Operand& operand;
  std::int64_t classes, ignored;

  // visit(n, s, target), in row-major order.
  template <class Visit>
  void each(Visit visit) const {
    if (operand.sizes.product() == 0) return;
    const auto* first = static_cast<const std::int64_t*>(operand.data);
    for (std::int64_t n = 0; n < operand.sizes[0]; ++n) {
      for (std::int64_t s = 0; s < operand.sizes[1]; ++s) {
        visit(n, s, first[n * operand.strides[0] + s * operand.strides[1]]);
      }
    }
  }

  // `place`: of the operand in the call.
  void check(int place) const {
    std::int64_t position = 0;
    each([&](std::int64_t, std::int64_t, std::int64_t target) {
      const bool outside = target < 0 || target >= classes;
      if (outside && target != ignored) throw BadIndex{place, position, target, classes};
      ++position;
    });
  }
};

template <class T>
double number(const Operand& operand, std::int64_t offset) {
  return static_cast<double>(load(static_cast<const T*>(operand.data)[offset]));
}
template <class T>
void put(const Operand& operand, std::int64_t offset, double value) {
  static_cast<T*>(operand.data)[offset] = store<T>(static_cast<Arithmetic<T>>(value));
}

// Of the class of a target.
template <class T>
double weight_of(const Operand& weight, const Targets& targets, std::int64_t target) {
  if (target == targets.ignored) return 0;
  return is_absent(weight) ? 1 : number<T>(weight, target * weight.strides[0]);
}

// Where the target's element of [n, c, s] lies.
std::int64_t offset_of(const Operand& values, std::int64_t n, std::int64_t target, std::int64_t s) {
  return n * values.strides[0] + target * values.strides[1] + s * values.strides[2];
}

template <class T>
void forward(const KernelCall& call, const Targets& targets) {
  const auto& [out, total, log_p, target_operand, weight, unused5, unused6, unused7] = call.operands;
  const std::uint64_t reduction = call.scalars[0];
  double losses = 0, weights = 0;
  targets.each([&](std::int64_t n, std::int64_t s, std::int64_t target) {
    const double w = weight_of<T>(weight, targets, target);
    const double loss = target == targets.ignored ? 0 : -w * number<T>(log_p, offset_of(log_p, n, target, s));
    if (reduction == none) return put<T>(out, n * out.strides[0] + s * out.strides[1], loss);
    losses += loss;
    weights += w;
  });
  if (reduction != none) put<T>(out, 0, reduction == mean ? losses / weights : losses);
  put<T>(total, 0, weights);
}

template <class T>
void backward(const KernelCall& call, const Targets& targets) {
  const auto& [dlog_p, dy, target_operand, weight, total, unused5, unused6, unused7] = call.operands;
  const std::uint64_t reduction = call.scalars[0];
  Walk<1>({&dlog_p}).rows([](const auto& first, const auto& strides, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) reinterpret_cast<T*>(first[0])[i * strides[0]] = T{};
  });
  const double divisor = reduction == mean ? number<T>(total, 0) : 1;
  targets.each([&](std::int64_t n, std::int64_t s, std::int64_t target) {
    if (target == targets.ignored) return;
    const double gradient = number<T>(dy, reduction == none ? n * dy.strides[0] + s * dy.strides[1] : 0);
    const double w = weight_of<T>(weight, targets, target);
    put<T>(dlog_p, offset_of(dlog_p, n, target, s), -w * (gradient / divisor));
  });
}

}  // namespace

void nll_loss(const KernelCall& call) {
  const bool is_forward = call.kernel == Kernel::nll_loss;
  const int place = is_forward ? 3 : 2;
  const Operand& values = call.operands[is_forward ? 2 : 0];
  const Targets targets{call.operands[static_cast<std::size_t>(place)], values.sizes[1],
                        static_cast<std::int64_t>(call.scalars[1])};
  targets.check(place);
  dispatch_float(values.dtype, [&]<class T>() { is_forward ? forward<T>(call, targets) : backward<T>(call, targets); });
}

}  // namespace labrig::kernels
