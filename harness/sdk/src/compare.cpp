// How a judge compares what came back with what it expected: every element, in float64, with the first difference named
// by its index so that a student can find it.
#include <fmt/format.h>

#include <cmath>

#include "labrig/lab.hpp"
#include "pattern.hpp"

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

std::string number_text(double value) { return std::isnan(value) ? "NaN" : fmt::format("{:.6g}", value); }

std::span<const std::byte> bytes_of(const Tensor& plain) {
  return {static_cast<const std::byte*>(plain.data_ptr()),
          static_cast<std::size_t>(plain.numel()) * element_bytes(plain.dtype())};
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
  if (!actual.defined()) return different("wrong-shape", "it is undefined: nothing was assigned to it");
  if (actual.sizes() != expected.sizes())
    return different("wrong-shape",
                     fmt::format("its shape is {}, expected {}", actual.sizes().str(), expected.sizes().str()));
  if (dtype && actual.dtype() != *dtype)
    return different("wrong-dtype",
                     fmt::format("its type is {}, expected {}", name_of(actual.dtype()), name_of(*dtype)));

  const Tensor plain = actual.contiguous();
  const Tensor actual64 = plain.to(Dtype::f64), expected64 = expected.contiguous();
  Differences differences;
  differences.sizes = actual.sizes();
  differences.got = actual64.data<const double>();
  differences.want = expected64.data<const double>();
  differences.bytes = bytes_of(plain);
  differences.rtol = rtol;
  differences.atol = atol;
  // An infinite expectation accepts nothing but the same infinity; NaN compares false.
  for (std::size_t i = 0; i < differences.got.size(); ++i)
    if (!differences.near(differences.got[i], differences.want[i])) differences.wrong.push_back(i);

  Comparison result;
  result.total = actual.numel();
  result.wrong = static_cast<std::int64_t>(differences.wrong.size());
  result.equal = result.wrong == 0;
  if (result.equal) return result;
  const std::size_t first = differences.wrong.front();
  const double got = differences.got[first];
  result.code = std::isfinite(got) ? "wrong-values" : "not-finite";
  result.text =
      fmt::format("{} of {} values {} wrong; first at {}: {}, expected {}", result.wrong, result.total,
                  result.wrong == 1 ? "is" : "are", index_text(actual.sizes(), static_cast<std::int64_t>(first)),
                  number_text(got), number_text(differences.want[first]));
  Tensor before64;
  if (before.defined() && before.sizes() == expected.sizes()) {
    before64 = before.to(Dtype::f64).contiguous();
    differences.before = before64.data<const double>();
  }
  Pattern pattern = find_pattern(differences);
  result.pattern = std::move(pattern.name);
  result.pattern_text = std::move(pattern.text);
  result.pattern_count = pattern.count;
  return result;
}

void Verdict::require(const Comparison& comparison, const std::string& what) {
  if (comparison.equal) return;
  constexpr std::size_t kMostMismatches = 20;
  if (mismatches.size() < kMostMismatches) mismatches.push_back({what, comparison});
  wrong(comparison.code, what + ": " + comparison.text);
}

}  // namespace labrig::lab
