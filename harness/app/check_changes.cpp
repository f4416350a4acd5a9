#include "check_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text.hpp"
#include "units.hpp"

namespace labrig::app {
using nlohmann::json;

namespace {

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string()
             ? reports::printable(found->get<std::string>(), reports::Lines::many)
             : std::string();
}

double number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

const json* check_of(const json& report, const std::string& id) {
  for (const json& check : report.at("checks"))
    if (check.at("id") == id) return &check;
  return nullptr;
}

// Lines that follow the first are indented like it.
std::string indented(const std::string& text, const std::string& indent) {
  std::string out = indent;
  for (const char c : text) out += c == '\n' ? "\n" + indent : std::string(1, c);
  return out + "\n";
}

std::string score_text(const json& report) {
  const json& score = report.at("score");
  return score.is_number() ? reports::points_text(score.get<double>()) : "no score";
}

std::string change_of(const json* before, const json& now) {
  const double old_points = before != nullptr ? number_at(*before, "points") : 0, points = number_at(now, "points");
  const bool fixed = now.at("status") == "passed";
  const char* word = fixed ? "fixed" : points > old_points ? "better" : points < old_points ? "worse" : "other";
  std::string line =
      fmt::format("  {:<7} {:<24} {} -> {} / {}", word, text_at(now, "id"), reports::points_text(old_points),
                  reports::points_text(points), reports::points_text(number_at(now, "max_points")));
  if (fixed) return line + "\n";
  line += "  " + text_at(now, "title") + "\n";
  if (now.at("reason").is_object()) line += indented(text_at(now.at("reason"), "text"), "          ");
  if (now.at("explain").is_object()) line += indented("try: " + text_at(now.at("explain"), "next"), "          ");
  return line;
}

}  // namespace

std::string changes_text(const json& before, const json& now) {
  std::string lines;
  for (const json& check : now.at("checks")) {
    const json* const old = check_of(before, check.at("id"));
    const bool same = old != nullptr && old->at("status") == check.at("status") &&
                      old->at("points") == check.at("points") && old->at("reason") == check.at("reason");
    if (!same) lines += change_of(old, check);
  }
  const std::string most = reports::points_text(number_at(now, "max_score"));
  if (lines.empty()) return fmt::format("{} of {} points, nothing changed\n", score_text(now), most);
  std::string out = fmt::format("{} -> {} of {} points\n{}", score_text(before), score_text(now), most, lines);
  const json &next = now.at("next_step"), &next_before = before.at("next_step");
  if (next.is_object() && next != next_before) out += indented("next: " + text_at(next, "text"), "  ");
  if (next.is_null() && !next_before.is_null()) out += "  nothing is left to do\n";
  return out;
}

bool is_refused(const json& report) {
  if (!report.at("cases").empty() || report.at("checks").empty()) return false;
  return std::all_of(report.at("checks").begin(), report.at("checks").end(),
                     [](const json& check) { return check.at("status") == "failed"; });
}

std::string refusal_text(const json& report) {
  return report.at("next_step").is_object() ? indented(text_at(report.at("next_step"), "text"), "  ") : std::string();
}

}  // namespace labrig::app
