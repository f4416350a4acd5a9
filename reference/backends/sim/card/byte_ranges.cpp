// RangeSet and runs_of.
#include "card/byte_ranges.hpp"

#include <algorithm>

namespace labrig::sim {

void RangeSet::add(const ByteRange& range) {
  if (range.bytes == 0) return;
  ByteRange whole = range;
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), range.start,
                                [](const ByteRange& r, std::uint64_t start) { return r.end() < start; });
  auto last = first;
  for (; last != ranges_.end() && last->start <= whole.end(); ++last) {
    const std::uint64_t end = std::max(whole.end(), last->end());
    whole.start = std::min(whole.start, last->start);
    whole.bytes = end - whole.start;
  }
  first = ranges_.erase(first, last);
  ranges_.insert(first, whole);
}

void RangeSet::remove(const ByteRange& range) {
  if (range.bytes == 0 || ranges_.empty()) return;
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), range.start,
                                [](const ByteRange& r, std::uint64_t start) { return r.end() <= start; });
  auto last = first;
  ByteRange kept[2];
  std::size_t count = 0;
  for (; last != ranges_.end() && last->start < range.end(); ++last) {
    if (last->start < range.start) kept[count++] = {last->start, range.start - last->start};
    if (last->end() > range.end()) kept[count++] = {range.end(), last->end() - range.end()};
  }
  first = ranges_.erase(first, last);
  ranges_.insert(first, kept, kept + count);
}

void RangeSet::common(const ByteRange& range, std::vector<ByteRange>& parts) const {
  if (range.bytes == 0) return;
  auto next = std::lower_bound(ranges_.begin(), ranges_.end(), range.start,
                               [](const ByteRange& r, std::uint64_t start) { return r.end() <= start; });
  for (; next != ranges_.end() && next->start < range.end(); ++next) {
    const std::uint64_t start = std::max(next->start, range.start), end = std::min(next->end(), range.end());
    parts.push_back({start, end - start});
  }
}

std::uint64_t extent_bytes(const Operand& operand) {
  // First: without elements the strides may be anything, and nothing has checked them.
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.sizes[d] == 0) return 0;
  }
  std::int64_t last = 0;
  for (int d = 0; d < operand.sizes.count(); ++d) last += (operand.sizes[d] - 1) * operand.strides[d];
  return (static_cast<std::uint64_t>(last) + 1) * element_bytes(operand.dtype);
}

bool runs_of(const Operand& operand, std::vector<ByteRange>& runs) {
  runs.clear();
  struct Dim {
    std::uint64_t count, stride;
  };
  const std::uint64_t element = element_bytes(operand.dtype);
  Dim dims[kMaxDims];
  std::size_t ndim = 0;
  std::uint64_t extent = element;
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.sizes[d] == 0) return true;
    if (operand.sizes[d] == 1 || operand.strides[d] == 0) continue;
    const Dim dim{static_cast<std::uint64_t>(operand.sizes[d]),
                  static_cast<std::uint64_t>(operand.strides[d]) * element};
    extent += (dim.count - 1) * dim.stride;
    std::size_t place = ndim++;
    for (; place > 0 && dims[place - 1].stride > dim.stride; --place) dims[place] = dims[place - 1];
    dims[place] = dim;
  }
  // From the innermost out: a dimension whose steps are not longer than the run makes the run longer.
  const auto start = reinterpret_cast<std::uint64_t>(operand.data);
  std::uint64_t run = element;
  std::size_t inner = 0;
  for (; inner < ndim && dims[inner].stride <= run; ++inner) run += (dims[inner].count - 1) * dims[inner].stride;
  std::uint64_t count = 1;
  for (std::size_t d = inner; d < ndim && count <= kMaxRuns; ++d) {
    count = dims[d].count > kMaxRuns ? kMaxRuns + 1 : count * dims[d].count;
  }
  if (count > kMaxRuns) {
    runs.push_back({start, extent});
    return false;
  }
  runs.push_back({start, run});
  for (std::size_t d = inner; d < ndim; ++d) {
    const std::size_t before = runs.size();
    for (std::uint64_t i = 1; i < dims[d].count; ++i) {
      for (std::size_t r = 0; r < before; ++r) runs.push_back({runs[r].start + i * dims[d].stride, run});
    }
  }
  if (ndim - inner <= 1) return true;
  // Dimensions may interleave, as those of a transposed window do.
  std::sort(runs.begin(), runs.end(), [](const ByteRange& a, const ByteRange& b) { return a.start < b.start; });
  std::size_t last = 0;
  for (std::size_t r = 1; r < runs.size(); ++r) {
    if (runs[r].start <= runs[last].end()) {
      runs[last].bytes = std::max(runs[last].end(), runs[r].end()) - runs[last].start;
    } else {
      runs[++last] = runs[r];
    }
  }
  runs.resize(last + 1);
  return true;
}

}  // namespace labrig::sim
