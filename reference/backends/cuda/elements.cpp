// Lines operands up and merges their dimensions, on the host.
#include "elements.hpp"

#include "ops/strided.hpp"

namespace labrig::cuda {
namespace {

// A dimension goes on where the one before it ends, in every operand: both can be walked as one.
bool merges_with_last(const Elements& elements, const Dims* strides, int d, std::int64_t size) {
  if (elements.dims == 0) return false;
  for (int i = 0; i < elements.views; ++i)
    if (elements.view[i].strides[elements.dims - 1] != strides[i][d] * size) return false;
  return true;
}

}  // namespace

Elements elements_of(const KernelCall& call, int skip_dim) {
  Elements elements;
  elements.count = 1;
  elements.views = call.operand_count;
  const Dims& sizes = call.operands[0].sizes;
  Dims strides[kMaxViews];
  for (int i = 0; i < elements.views; ++i) {
    const Operand& operand = call.operands[static_cast<std::size_t>(i)];
    elements.view[i].data = operand.data;
    elements.view[i].dtype = operand.dtype;
    strides[i] = kernels::broadcast_strides(operand, sizes);
  }
  for (int d = 0; d < sizes.count(); ++d) {
    if (d == skip_dim) continue;
    elements.count *= sizes[d];
    if (sizes[d] == 1) continue;
    const bool merges = merges_with_last(elements, strides, d, sizes[d]);
    const int at = merges ? elements.dims - 1 : elements.dims++;
    elements.sizes[at] = merges ? elements.sizes[at] * sizes[d] : sizes[d];
    for (int i = 0; i < elements.views; ++i) elements.view[i].strides[at] = strides[i][d];
  }
  return elements;
}

bool is_plain(const Elements& elements) {
  if (elements.dims > 1) return false;
  for (int i = 0; i < elements.views; ++i) {
    const View& view = elements.view[i];
    if (view.dtype != elements.view[0].dtype) return false;
    if (elements.dims == 1 && view.strides[0] != 1) return false;
    if (reinterpret_cast<std::uintptr_t>(view.data) % 16 != 0) return false;
  }
  return true;
}

}  // namespace labrig::cuda
