// How a judge compares what came back with what it expected: every element, in float64, with the first difference named
// by its index so that a student can find it.
#include <fmt/format.h>

#include <cmath>

#include "labrig/lab.hpp"

namespace labrig::lab {

namespace {

// "[1, 7]": the index of the element that is number `at` in row-major order.
std::string index_text(const Dims& sizes, std::int64_t at) {
  Dims index = sizes;
  for (int d = sizes.count() - 1; d >= 0; --d) {
    index[d] = at % sizes[d];
    at /= sizes[d];
  }
  return index.str();
}

Comparison different(std::string code, std::string text) {
  Comparison result;
  result.code = std::move(code);
  result.text = std::move(text);
  return result;
}

}  // namespace

Comparison compare(const Tensor& actual, const Tensor& expected, double rtol, double atol, std::optional<Dtype> dtype,
                   const Tensor& before) {
  (void)before;
  if (!actual.defined()) return different("wrong-shape", "it is undefined: nothing was assigned to it");
  if (actual.sizes() != expected.sizes())
    return different("wrong-shape",
                     fmt::format("its shape is {}, expected {}", actual.sizes().str(), expected.sizes().str()));
  if (dtype && actual.dtype() != *dtype)
    return different("wrong-dtype",
                     fmt::format("its type is {}, expected {}", name_of(actual.dtype()), name_of(*dtype)));

  const Tensor actual64 = actual.to(Dtype::f64).contiguous(), expected64 = expected.contiguous();
  const auto got = actual64.data<const double>(), want = expected64.data<const double>();
  Comparison result;
  result.total = actual.numel();
  std::size_t first = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool near = got[i] == want[i] || std::abs(got[i] - want[i]) <= atol + rtol * std::abs(want[i]);
    // An infinite tolerance (an infinite expectation) accepts nothing but the same infinity; NaN compares false.
    if (near && (std::isfinite(want[i]) || got[i] == want[i])) continue;
    if (result.wrong++ == 0) first = i;
  }
  result.equal = result.wrong == 0;
  if (result.equal) return result;
  result.code = std::isfinite(got[first]) ? "wrong-values" : "not-finite";
  result.text = fmt::format("{} of {} values {} wrong; first at {}: {:.6g}, expected {:.6g}", result.wrong,
                            result.total, result.wrong == 1 ? "is" : "are",
                            index_text(actual.sizes(), static_cast<std::int64_t>(first)), got[first], want[first]);
  return result;
}

void Verdict::require(const Comparison& comparison, const std::string& what) {
  if (!comparison.equal) wrong(comparison.code, what + ": " + comparison.text);
}

}  // namespace labrig::lab
