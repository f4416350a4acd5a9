// One pass in the order of the report: what a check follows is already known when it comes later, except for needs,
// which may point forward.
#include "causes.hpp"

#include <algorithm>
#include <string>

namespace labrig::reports {
namespace {

constexpr std::string_view kNeeds = "needs:";

const Check* needed_by(const Check& check, const Report& report) {
  const std::string& code = check.reason.code;
  if (code.rfind(kNeeds, 0) != 0) return nullptr;
  for (const Check& other : report.checks) {
    if (&other != &check && code.compare(kNeeds.size(), std::string::npos, other.id) == 0 && lost(other)) return &other;
  }
  return nullptr;
}

const Check* earlier_with_the_same_reason(const Check& check, const Report& report) {
  if (check.reason.text.empty()) return nullptr;
  for (const Check& other : report.checks) {
    if (&other == &check) return nullptr;
    if (other.status == "failed" && other.reason.code == check.reason.code && other.reason.text == check.reason.text)
      return &other;
  }
  return nullptr;
}

}  // namespace

bool lost(const Check& check) { return check.status == "failed" || check.status == "partial"; }

std::string_view deciding_case(const Check& check) {
  const auto least = std::min_element(check.cases.begin(), check.cases.end(),
                                      [](const Share& a, const Share& b) { return a.share < b.share; });
  return least == check.cases.end() ? std::string_view() : std::string_view(least->case_id);
}

std::map<const Check*, const Check*> causes_of(const Report& report) {
  std::map<const Check*, const Check*> cause;
  for (const Check& check : report.checks) {
    const Check* other = nullptr;
    if (check.status == "failed") {
      other = needed_by(check, report);
      if (other == nullptr) other = earlier_with_the_same_reason(check, report);
    }
    cause[&check] = other == nullptr ? &check : other;
  }
  // Follow chains to their end. A ring of needs (no lab has one) breaks at its first check; the steps are counted
  // because a chain may lead into a ring that does not come back to its start.
  for (auto& [check, end] : cause) {
    std::size_t steps = 0;
    while (cause[end] != end && steps++ < report.checks.size()) end = cause[end];
    if (cause[end] != end) end = check;
  }
  return cause;
}

}  // namespace labrig::reports
