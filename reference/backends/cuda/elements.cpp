// Lines operands up and merges their dimensions, on the host.
#include "elements.hpp"

#include <algorithm>

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

void add_view(Elements& elements, Dims* strides, const Operand& operand, const Dims& sizes) {
  strides[elements.views] = kernels::broadcast_strides(operand, sizes);
  elements.view[elements.views++] = {operand.data, {}, operand.dtype};
}

void add_dimensions(Elements& elements, const Dims* strides, const Dims& sizes, int skip_dim) {
  elements.count = 1;
  for (int d = 0; d < sizes.count(); ++d) {
    if (d == skip_dim) continue;
    elements.count *= sizes[d];
    if (sizes[d] == 1) continue;
    const bool merges = merges_with_last(elements, strides, d, sizes[d]);
    const int at = merges ? elements.dims - 1 : elements.dims++;
    elements.sizes[at] = merges ? elements.sizes[at] * sizes[d] : sizes[d];
    for (int i = 0; i < elements.views; ++i) elements.view[i].strides[at] = strides[i][d];
  }
}

}  // namespace

View view_of(const Operand& operand) {
  View view;
  view.data = is_absent(operand) ? nullptr : operand.data;
  view.dtype = operand.dtype;
  std::copy(operand.strides.begin(), operand.strides.end(), view.strides);
  return view;
}

Elements elements_of(std::initializer_list<const Operand*> operands, int skip_dim) {
  Elements elements;
  const Dims& sizes = (*operands.begin())->sizes;
  Dims strides[kMaxViews];
  for (const Operand* operand : operands) add_view(elements, strides, *operand, sizes);
  add_dimensions(elements, strides, sizes, skip_dim);
  return elements;
}

Elements elements_of(const KernelCall& call) {
  Elements elements;
  const Dims& sizes = call.operands[0].sizes;
  Dims strides[kMaxViews];
  for (const Operand& operand : call.all()) add_view(elements, strides, operand, sizes);
  add_dimensions(elements, strides, sizes, -1);
  return elements;
}

Elements elements_in_memory_order(const Operand& operand) {
  Operand sorted = operand;
  for (int d = 1; d < sorted.sizes.count(); ++d) {
    for (int at = d; at > 0 && sorted.strides[at - 1] < sorted.strides[at]; --at) {
      std::swap(sorted.sizes[at - 1], sorted.sizes[at]);
      std::swap(sorted.strides[at - 1], sorted.strides[at]);
    }
  }
  return elements_of({&sorted});
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
