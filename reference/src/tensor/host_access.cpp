// Which bytes of pinned memory the host touches, as a simulated card wants to know it: exactly those of the elements,
// so that work on one column never looks like work on its neighbour.
#include <algorithm>
#include <array>
#include <vector>

#include "tensor/impl.hpp"

namespace labrig {
namespace {

// Runs of bytes that are announced for one access. What lies behind them goes unannounced: a race there may be missed,
// but no program is blamed for one that it does not have.
constexpr int kMaxRuns = 4096;

struct Axis {
  std::int64_t stride, size;  // in elements
};

// Elements of a layout as runs without gaps, one for each index of `outer`.
struct Runs {
  std::array<Axis, kMaxDims> outer;
  int outer_count = 0;
  std::int64_t elements = 1;  // of a run
};

Runs runs_of(const Layout& layout) {
  std::vector<Axis> axes;  // by their strides
  for (int d = 0; d < layout.dim(); ++d) {
    if (layout.sizes[d] > 1 && layout.strides[d] != 0) axes.push_back({layout.strides[d], layout.sizes[d]});
  }
  std::sort(axes.begin(), axes.end(), [](Axis a, Axis b) { return a.stride < b.stride; });
  Runs runs;
  for (const Axis axis : axes) {
    if (runs.outer_count == 0 && axis.stride == runs.elements) {
      runs.elements *= axis.size;
    } else {
      runs.outer[static_cast<std::size_t>(runs.outer_count++)] = axis;
    }
  }
  return runs;
}

}  // namespace

void announce_host_access(const TensorImpl& impl, bool write) {
  if (!impl.storage->is_pinned_for(DeviceType::sim) || impl.layout.numel() == 0) return;
  Backend* const clock = attached_sim_clock();
  if (!clock) return;
  const Runs runs = runs_of(impl.layout);
  const std::size_t element = element_bytes(impl.dtype);
  const std::byte* const data = impl.storage->data();
  std::array<std::int64_t, kMaxDims> index{};
  for (int run = 0; run < kMaxRuns; ++run) {
    std::int64_t at = impl.layout.offset;
    for (std::size_t i = 0; i < static_cast<std::size_t>(runs.outer_count); ++i) at += index[i] * runs.outer[i].stride;
    clock->host_access(data + static_cast<std::size_t>(at) * element, static_cast<std::size_t>(runs.elements) * element,
                       write, impl.name);
    int axis = 0;
    while (axis < runs.outer_count) {
      const auto i = static_cast<std::size_t>(axis);
      if (++index[i] < runs.outer[i].size) break;
      index[i] = 0;
      ++axis;
    }
    if (axis == runs.outer_count) return;
  }
}

}  // namespace labrig
