// Dims, and the rules of shapes that need no strides: dimensions counted from the end, broadcasting.
#include <algorithm>
#include <limits>
#include <string>

#include "labrig/error.hpp"
#include "labrig/layout.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

std::string text(std::int64_t value) { return std::to_string(value); }

[[noreturn]] void throw_too_many(std::size_t count) {
  throw Error("too-many-dimensions",
              "a tensor has at most " + std::to_string(kMaxDims) + " dimensions, not " + std::to_string(count),
              "sizes and strides are kept in a fixed place, so that views cost no allocation",
              "merge dimensions that are always used together, as reshape({-1, last}) does");
}

}  // namespace

// --- Dims ----------------------------------------------------------------------------------------------------------

Dims::Dims(std::span<const std::int64_t> values) {
  if (values.size() > static_cast<std::size_t>(kMaxDims)) throw_too_many(values.size());
  std::copy(values.begin(), values.end(), values_);
  count_ = static_cast<int>(values.size());
}

void Dims::push_back(std::int64_t value) {
  if (count_ == kMaxDims) throw_too_many(kMaxDims + 1);
  values_[count_++] = value;
}

// Saturates, so that a product beyond 64 bits is refused as too large instead of wrapping to something small.
std::int64_t Dims::product() const {
  if (std::find(begin(), end(), 0) != end()) return 0;
  std::int64_t result = 1;
  for (const std::int64_t value : *this) {
    if (__builtin_mul_overflow(result, value, &result)) return std::numeric_limits<std::int64_t>::max();
  }
  return result;
}

std::string Dims::str() const {
  std::string result = "[";
  for (int i = 0; i < count_; ++i) result += (i ? ", " : "") + text(values_[i]);
  return result + "]";
}

bool Dims::operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

// --- rules ---------------------------------------------------------------------------------------------------------

int wrap_dim(int dim, int dims) {
  const int bound = std::max(dims, 1);  // a tensor without dimensions accepts 0 and -1
  if (dim < -bound || dim >= bound) {
    throw Error("dimension-out-of-range",
                "Dimension out of range (expected to be in range of [" + text(-bound) + ", " + text(bound - 1) +
                    "], but got " + text(dim) + ")",
                "the tensor has " + text(dims) + " dimensions, counted from 0; negative ones count from the end",
                "pass a dimension in that range, or unsqueeze the tensor first");
  }
  return dim < 0 ? dim + bound : dim;
}

Dims broadcast_sizes(const Dims& a, const Dims& b) {
  const int dims = std::max(a.count(), b.count());
  Dims result = a.count() == dims ? a : b;
  for (int d = 0; d < dims; ++d) {
    const int in_a = d - (dims - a.count()), in_b = d - (dims - b.count());
    const std::int64_t size_a = in_a < 0 ? 1 : a[in_a], size_b = in_b < 0 ? 1 : b[in_b];
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      throw Error(
          "shape-mismatch",
          "The size of tensor a (" + text(size_a) + ") must match the size of tensor b (" + text(size_b) +
              ") at non-singleton dimension " + text(d),
          "shapes are lined up from the right, so in " + a.str() + " and " + b.str() + " " + text(size_a) + " meets " +
              text(size_b) + "; sizes must be equal, or one of them 1",
          "give the smaller tensor a dimension of size 1 there (unsqueeze or reshape), or make the sizes equal");
    }
    result[d] = size_a == 1 ? size_b : size_a;
  }
  return result;
}

void check_fills(const Dims& to, const Dims& from) {
  const Dims broadcast = broadcast_sizes(to, from);
  if (broadcast == to) return;
  throw Error("shape-mismatch",
              "output with shape " + to.str() + " doesn't match the broadcast shape " + broadcast.str(),
              "values are repeated to fill the tensor that is written, never the other way round",
              "write to a tensor of shape " + broadcast.str() + ", or reduce the source first");
}

}  // namespace labrig
