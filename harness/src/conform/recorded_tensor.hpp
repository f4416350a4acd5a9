// A tensor as recordings hold it, {"shape": [2, 3], "data": […]}, and the comparison of one of ours with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conform/outcome.hpp"
#include "conform/value.hpp"
#include "labrig/tensor.hpp"

namespace labrig::conform {

struct RecordedTensor {
  Dims shape;
  std::vector<double> values;  // row-major

  // Converted to `dtype`, on `device`.
  Tensor on(Device device, Dtype dtype) const;
};

// Also reads a bare number, as one of no dimensions, and data that are lists of lists.
RecordedTensor read_tensor(const Value& value);

// Numbers in whatever depth of lists, in order.
std::vector<double> flat_numbers(const Value& value);

// The values of a tensor of any type on any device, row-major.
std::vector<double> values_of(const Tensor& tensor);

// Where `got` and `expected` are not the same: shapes that differ, or the first value further than
// `tolerance` * max(1, largest |expected|) from what is expected. Values that are not finite must be equal.
struct Mismatch {
  std::string index;  // "" for the shape, else "[3]"
  std::string expected, got;
};
std::optional<Mismatch> compare(const Tensor& got, const RecordedTensor& expected, double tolerance);
// The same for plain lists.
std::optional<Mismatch> compare(const std::vector<double>& got, const std::vector<double>& expected, double tolerance);

// Short, and exact for f32.
std::string number_text(double value);

}  // namespace labrig::conform
