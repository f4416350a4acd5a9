// sum, mean, max: over one dimension, or over all. Over all is one reduction of the elements as one line.
#include <algorithm>
#include <array>
#include <numeric>

#include "labrig/error.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

const char* text_of(Kernel kernel) { return kernel == Kernel::sum ? "sum" : kernel == Kernel::mean ? "mean" : "max"; }

Dtype reduced_type(Kernel kernel, Dtype dtype) {
  if (kernel == Kernel::sum) return is_floating_point(dtype) ? dtype : kI64;
  if (kernel == Kernel::mean && !is_floating_point(dtype)) {
    throw Error(
        "dtype-mismatch",
        std::string("mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
                    "dtype. Got: ") +
            torch_type_name(dtype),
        "the mean of integers is not an integer", "convert the tensor to f32 first");
  }
  return dtype;
}

Error no_maximum(std::string what) {
  return Error("empty-reduction", std::move(what), "there is no largest of no elements",
               "check why the tensor is empty before taking its maximum");
}

Tensor reduce(Kernel kernel, const Tensor& x, int dim, bool keepdim) {
  const Dtype dtype = reduced_type(kernel, impl_of(x).dtype);
  if (x.dim() == 0) return reduce(kernel, x.unsqueeze(0), dim, false);
  const int d = wrap_dim(dim, x.dim());
  if (kernel == Kernel::max && x.size(d) == 0) {
    throw no_maximum("max(): Expected reduction dim " + std::to_string(d) + " to have non-zero size.");
  }
  Dims sizes = x.sizes();
  sizes[d] = 1;
  Tensor out = make_tensor(sizes, {dtype, x.device()}, text_of(kernel));
  run(kernel, {&out, &x}, {static_cast<std::uint64_t>(d)});
  return keepdim ? out : out.select(d, 0);
}

// The elements in one line: a view wherever they lie without gaps, in whatever order (the order does not matter here),
// else a copy.
Tensor in_one_line(const Tensor& x) {
  const Layout& layout = x.layout();
  std::array<std::int64_t, kMaxDims> order{};
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.begin() + x.dim(), [&](std::int64_t a, std::int64_t b) {
    return layout.strides[static_cast<int>(a)] > layout.strides[static_cast<int>(b)];
  });
  return x.permute(Dims(std::span(order.data(), static_cast<std::size_t>(x.dim())))).flatten();
}

Tensor reduce_all(Kernel kernel, const Tensor& x) {
  reduced_type(kernel, impl_of(x).dtype);
  if (kernel == Kernel::max && x.numel() == 0) {
    throw no_maximum(
        "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
        "'dim' "
        "argument.");
  }
  return reduce(kernel, in_one_line(x), 0, false);
}

}  // namespace

Tensor sum_to_size(const Tensor& x, const Dims& sizes) {
  Tensor result = x;
  while (result.dim() > sizes.count()) result = sum(result, 0);
  for (int d = 0; d < sizes.count(); ++d) {
    if (sizes[d] == 1 && result.size(d) != 1) result = sum(result, d, true);
  }
  return result;
}

Tensor sum(const Tensor& x) { return reduce_all(Kernel::sum, x); }
Tensor sum(const Tensor& x, int dim, bool keepdim) { return reduce(Kernel::sum, x, dim, keepdim); }
Tensor mean(const Tensor& x) { return reduce_all(Kernel::mean, x); }
Tensor mean(const Tensor& x, int dim, bool keepdim) { return reduce(Kernel::mean, x, dim, keepdim); }
Tensor max(const Tensor& x) { return reduce_all(Kernel::max, x); }
Tensor max(const Tensor& x, int dim, bool keepdim) { return reduce(Kernel::max, x, dim, keepdim); }

}  // namespace labrig
