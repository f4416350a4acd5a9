// How the elements of a tensor lie in its storage: sizes, strides and an offset, all counted in elements. Views change
// the layout and share the storage.
//
//   storage  [ a b c d e f ]        sizes [2, 3]  strides [3, 1]      a b c     its transpose: sizes [3, 2]
//                                                                    d e f                     strides [1, 3]
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "labrig/export.hpp"

namespace labrig {

inline constexpr int kMaxDims = 6;

// Up to six integers, one a dimension: sizes, strides or indices. A value type without heap memory.
class LABRIG_API Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  // Throws Error `too-many-dimensions` above six.
  Dims(std::span<const std::int64_t> values);

  int count() const { return count_; }
  std::int64_t operator[](int i) const { return values_[i]; }
  std::int64_t& operator[](int i) { return values_[i]; }
  const std::int64_t* begin() const { return values_; }
  const std::int64_t* end() const { return values_ + count_; }
  void push_back(std::int64_t value);
  // The product of all values; 1 for no dimension.
  std::int64_t product() const;
  // As PyTorch prints it: "[2, 3]".
  std::string str() const;
  bool operator==(const Dims& other) const;

 private:
  std::int64_t values_[kMaxDims] = {};
  int count_ = 0;
};

struct LABRIG_API Layout {
  Dims sizes;
  Dims strides;             // in elements; 0 where a dimension is expanded
  std::int64_t offset = 0;  // of the first element, in elements

  // Row-major without gaps, starting at `offset`.
  static Layout contiguous(const Dims& sizes, std::int64_t offset = 0);

  int dim() const { return sizes.count(); }
  std::int64_t numel() const { return sizes.product(); }
  bool is_contiguous() const;
  // The elements spanned from the first to one past the last; 0 when empty.
  std::int64_t span_elements() const;

  // Each returns the layout of a view, or throws the error that PyTorch gives for it. Negative dimensions count
  // from the end.
  Layout narrow(int dim, std::int64_t start, std::int64_t length) const;
  Layout select(int dim, std::int64_t index) const;
  Layout slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step) const;
  Layout transpose(int dim0, int dim1) const;
  Layout permute(const Dims& order) const;
  Layout unsqueeze(int dim) const;
  Layout squeeze(int dim) const;
  Layout expand(const Dims& sizes) const;  // -1 keeps a size
  // One size may be -1. Throws `view-size-incompatible` when the strides do not allow it.
  Layout view(const Dims& sizes) const;
};

// The sizes that `a` and `b` broadcast to. Throws `shape-mismatch` with PyTorch's text.
LABRIG_API Dims broadcast_sizes(const Dims& a, const Dims& b);
// `dim` counted from the end when negative; throws `dimension-out-of-range`.
LABRIG_API int wrap_dim(int dim, int dims);

}  // namespace labrig
