// Comparisons: both operands in the type that they promote to; the result is bool. NaN is unequal to everything.
#include "ops/elementwise_kernels.hpp"
#include "ops/map.hpp"

namespace labrig::kernels {
namespace {

template <class Op>
void compared_by(const KernelCall& call, Op op) {
  const Dtype dtype = promote_types(call.operands[1].dtype, call.operands[2].dtype);
  dispatch(dtype, [&]<class T>() { map<Bool8, T, 2>(call, dtype, op); });
}

}  // namespace

void compare(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::eq:
      return compared_by(call, [](auto a, auto b) { return a == b; });
    case Kernel::ne:
      return compared_by(call, [](auto a, auto b) { return a != b; });
    case Kernel::lt:
      return compared_by(call, [](auto a, auto b) { return a < b; });
    case Kernel::le:
      return compared_by(call, [](auto a, auto b) { return a <= b; });
    case Kernel::gt:
      return compared_by(call, [](auto a, auto b) { return a > b; });
    default:
      return compared_by(call, [](auto a, auto b) { return a >= b; });
  }
}

}  // namespace labrig::kernels
