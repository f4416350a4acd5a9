// Reads a tensor, and finds the element that differs most.
#include "conform/recorded_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

namespace labrig::conform {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

void append_values(const Value& value, std::vector<double>& values) {
  if (!value.is_list()) return values.push_back(value.number());
  for (const Value& item : value.items()) append_values(item, values);
}

Dims read_shape(const Value& value) {
  Dims shape;
  std::int64_t elements = 1;
  for (const Value& item : value.items()) {
    const std::int64_t size = item.whole();
    if (shape.count() == kMaxDims) value.fail("has more than " + std::to_string(kMaxDims) + " dimensions");
    if (size < 0 || size > kMostElements) item.fail("is negative or too large");
    elements *= size;
    if (elements > kMostElements) value.fail("is too large");
    shape.push_back(size);
  }
  return shape;
}

bool is_close(double got, double expected, double limit) {
  if (!std::isfinite(got) || !std::isfinite(expected)) {
    return (std::isnan(got) && std::isnan(expected)) || got == expected;
  }
  return std::fabs(got - expected) <= limit;
}

}  // namespace

std::vector<double> flat_numbers(const Value& value) {
  std::vector<double> values;
  append_values(value, values);
  return values;
}

Tensor RecordedTensor::on(Device device, Dtype dtype) const {
  return tensor<double>(std::span<const double>(values), shape).to(dtype).to(device);
}

RecordedTensor read_tensor(const Value& value) {
  RecordedTensor result;
  if (value.is_object()) {
    result.shape = read_shape(value.at("shape"));
    result.values = flat_numbers(value.at("data"));
  } else {
    result.values = {value.number()};
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : result.shape) elements *= size;
  if (static_cast<std::int64_t>(result.values.size()) != elements) {
    value.fail("has " + std::to_string(result.values.size()) + " values for a shape of " + std::to_string(elements));
  }
  return result;
}

std::vector<double> values_of(const Tensor& tensor) {
  const Tensor host = tensor.detach().to(Device(), kF64).contiguous();
  const std::span<const double> data = host.data<const double>();
  return {data.begin(), data.end()};
}

std::optional<Mismatch> compare(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  if (got.size() != expected.size()) {
    return Mismatch{"", std::to_string(expected.size()) + " values", std::to_string(got.size()) + " values"};
  }
  double scale = 1;
  for (const double value : expected) {
    if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (is_close(got[i], expected[i], tolerance * scale)) continue;
    return Mismatch{"[" + std::to_string(i) + "]", number_text(expected[i]), number_text(got[i])};
  }
  return std::nullopt;
}

std::optional<Mismatch> compare(const Tensor& got, const RecordedTensor& expected, double tolerance) {
  if (got.sizes() != expected.shape) return Mismatch{"", expected.shape.str(), got.sizes().str()};
  return compare(values_of(got), expected.values, tolerance);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace labrig::conform
