// Comparisons: both operands are compared in the type that they promote to; the result is bool and has no gradient.
#include "ops/operands.hpp"

namespace labrig {
namespace {

// A 0-dim operand in the type of the comparison and on its device, since it does not take part in the promotion of the
// kernel; a tensor with dimensions as it is.
Tensor comparable(const Tensor& x, Dtype dtype, Device device) {
  if (x.dim() > 0) return x;
  return x.device() == device ? x.to(dtype) : filled({}, x.item(), {dtype, device});
}

Tensor compare(Kernel kernel, const char* name, const Tensor& a, const Tensor& b) {
  const Device device = common_device(name, {{"a", &a}, {"b", &b}});
  const Dtype dtype = result_type(a, b);
  Tensor out = make_tensor(broadcast_sizes(a.sizes(), b.sizes()), {kBool, device}, name);
  const Tensor left = comparable(a.detach(), dtype, device), right = comparable(b.detach(), dtype, device);
  run(kernel, {&out, &left, &right});
  return out;
}

Tensor compare(Kernel kernel, const char* name, const Tensor& a, Scalar b) {
  impl_of(a);
  return compare(kernel, name, a, filled({}, b.value(), {result_type(a, b), a.device()}));
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) { return compare(Kernel::eq, "eq", a, b); }
Tensor ne(const Tensor& a, const Tensor& b) { return compare(Kernel::ne, "ne", a, b); }
Tensor lt(const Tensor& a, const Tensor& b) { return compare(Kernel::lt, "lt", a, b); }
Tensor le(const Tensor& a, const Tensor& b) { return compare(Kernel::le, "le", a, b); }
Tensor gt(const Tensor& a, const Tensor& b) { return compare(Kernel::gt, "gt", a, b); }
Tensor ge(const Tensor& a, const Tensor& b) { return compare(Kernel::ge, "ge", a, b); }
Tensor eq(const Tensor& a, Scalar b) { return compare(Kernel::eq, "eq", a, b); }
Tensor ne(const Tensor& a, Scalar b) { return compare(Kernel::ne, "ne", a, b); }
Tensor lt(const Tensor& a, Scalar b) { return compare(Kernel::lt, "lt", a, b); }
Tensor le(const Tensor& a, Scalar b) { return compare(Kernel::le, "le", a, b); }
Tensor gt(const Tensor& a, Scalar b) { return compare(Kernel::gt, "gt", a, b); }
Tensor ge(const Tensor& a, Scalar b) { return compare(Kernel::ge, "ge", a, b); }

}  // namespace labrig
