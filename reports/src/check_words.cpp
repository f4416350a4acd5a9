#include "check_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "causes.hpp"
#include "units.hpp"

namespace labrig::reports {

std::string loss_in_words(const Check& check) {
  if (!lost(check) && check.status != "fault") return check.reason.text;
  std::string out;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) out += fmt::format("{}{}: {}", out.empty() ? "" : "\n", name, text);
  };
  if (!check.explain) return check.reason.text;
  add("what", check.explain->what.empty() ? check.reason.text : check.explain->what);
  add("where", check.explain->where);
  add("cause", check.explain->cause);
  add("next", check.explain->next);
  add("evidence", check.explain->evidence);
  return out;
}

std::string points_in_words(const Check& check) {
  return fmt::format("{} of {} points", points_text(check.points), points_text(check.max_points));
}

std::string environment_value(const Report& report, const std::string& name) {
  const auto found = std::find_if(report.environment.begin(), report.environment.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == report.environment.end() ? std::string() : found->second;
}

}  // namespace labrig::reports
