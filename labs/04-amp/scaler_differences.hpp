// Task 2, for the judge: the first iteration in which a scaler is not PyTorch's, and what that says about it.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <sstream>
#include <string>

#include "scaler_sequences.hpp"

namespace amp_lab {

// Eight digits.
inline std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  std::ostringstream stream;
  stream.precision(8);
  stream << value;
  return stream.str();
}

struct Difference {
  std::string code, text;
};
// `least`: numbers below it are compared as if they were as large.
inline bool near(double a, double b, double least = 0) {
  return std::abs(a - b) <= 1e-5 * std::max({std::abs(a), std::abs(b), least});
}

// After iteration i: `got` is one row as call() writes it.
inline std::optional<Difference> difference(const Sequence& sequence, std::size_t i, const Row& right,
                                            std::span<const double> got) {
  bool any_bad = false;
  for (std::size_t o = 0; o < right.optimizers.size(); ++o) {
    const char what = sequence.plans[o][i];
    const Row::Optimizer& wanted = right.optimizers[o];
    const double stepped = got[2 + 3 * o], parameter = got[3 + 3 * o], gradient = got[4 + 3 * o];
    any_bad = any_bad || is_bad(what);
    if (is_bad(what) && (stepped != 0 || !near(parameter, wanted.parameter, 1)))
      return Difference{"steps-on-inf", "the optimizer stepped although a gradient was inf or NaN"};
    if (stepped != wanted.stepped)
      return Difference{"skips-good-steps", "the optimizer did not step although its gradients were finite"};
    if (!is_bad(what) && unscales(what) && !near(gradient, wanted.gradient))
      return Difference{"unscale", "the gradient after unscale() is " + number_text(gradient) + "; " +
                                       number_text(wanted.gradient) + " is right"};
    if (!near(parameter, wanted.parameter, 1))
      return Difference{"unscale", std::string(unscales(what) ? "after unscale() and step()" : "after step()") +
                                       " the parameter is " + number_text(parameter) + "; " +
                                       number_text(wanted.parameter) + " is right"};
  }
  if (near(got[0], right.scale) && got[1] == right.tracker) return std::nullopt;
  const std::string seen = "the scale is " + number_text(got[0]) + " and the tracker " + number_text(got[1]) + "; " +
                           number_text(right.scale) + " and " + number_text(right.tracker) + " are right";
  if (static_cast<std::int64_t>(i) == sequence.resume_at)
    return Difference{"resume", seen + ", with the state that state() gave and load() got back"};
  if (any_bad) return Difference{"no-backoff", seen + ", after a gradient that was inf or NaN"};
  return Difference{"growth", seen + ", with a growth interval of " + std::to_string(sequence.options.growth_interval)};
}

// The first row that is not PyTorch's, and what that says about the scaler.
inline std::optional<Difference> first_difference(const Sequence& sequence, std::span<const double> numbers) {
  const std::vector<Row> right = right_rows(sequence);
  const std::size_t width = 2 + 3 * sequence.plans.size();
  if (numbers.size() != width * right.size()) return Difference{"no-result", "there are not enough rows"};
  for (std::size_t i = 0; i < right.size(); ++i)
    if (std::optional<Difference> found = difference(sequence, i, right[i], numbers.subspan(i * width, width))) {
      found->text = "in iteration " + std::to_string(i + 1) + " " + found->text;
      return found;
    }
  return std::nullopt;
}

}  // namespace amp_lab
