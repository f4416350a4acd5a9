// GitHub Classroom's grading reporter: base64 of a JSON object, which one environment variable of a step carries. The
// reporter stores the sum of the tests' scores, so every test has a number, and they add up to the score exactly; the
// figure in its log counts passed tests instead. It prints names and messages, so these hold no command of GitHub's
// log. Where there is no score, max_score is 0: nothing is stored, and the step fails by its status.
#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "causes.hpp"
#include "check_words.hpp"
#include "exact_sum.hpp"
#include "format_renderers.hpp"
#include "formats.hpp"
#include "text.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::ordered_json;

// The kernel takes 131,072 bytes for a variable with its name; the rest is for the name.
constexpr std::size_t kLimit = 128'000;
constexpr std::size_t kMostTests = 300;

// How much of each text is kept, in bytes. With the least of these 300 tests fit, whatever they are called.
struct Limits {
  std::size_t name, message;
};
constexpr Limits kLimits[] = {{200, 2000}, {200, 400}, {200, 100}, {200, 0}, {40, 0}};

std::string base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

// What the reporter prints of it: nothing in it may be a command of GitHub's log.
std::string told(const std::string& text, Lines lines, std::size_t limit) {
  return without_commands(printable(text, lines, limit));
}

Json test_of(const Check& check, const Limits& limits) {
  const bool passed = check.status == "passed";
  Json test = {{"name", told(check.id, Lines::one, limits.name)},
               {"status", passed                    ? "pass"
                          : check.status == "fault" ? "error"
                                                    : "fail"},
               {"score", 0.0}};
  if (!passed && limits.message > 0)
    test["message"] = told(check.title + "\n" + loss_in_words(check), Lines::many, limits.message);
  return test;
}

// The checks beyond the most that are told, as one.
Json rest_of(std::span<const Check* const> checks) {
  const bool passed =
      std::all_of(checks.begin(), checks.end(), [](const Check* check) { return check->status == "passed"; });
  return {
      {"name", std::to_string(checks.size()) + " more checks"}, {"status", passed ? "pass" : "fail"}, {"score", 0.0}};
}

std::vector<const Check*> counted_checks(const Report& report) {
  std::vector<const Check*> checks;
  for (const Check& check : report.checks)
    if (check.status != "skipped") checks.push_back(&check);
  return checks;
}

Json tests_of(const Report& report, const Limits& limits) {
  const std::vector<const Check*> checks = counted_checks(report);
  const std::size_t shown = std::min(checks.size(), kMostTests);
  Json tests = Json::array();
  std::vector<Part> parts;
  for (std::size_t i = 0; i < shown; ++i) {
    tests.push_back(test_of(*checks[i], limits));
    parts.push_back({checks[i]->points, checks[i]->max_points});
  }
  if (const auto rest = std::span(checks).subspan(shown); !rest.empty()) {
    tests.push_back(rest_of(rest));
    parts.emplace_back();
    for (const Check* check : rest) parts.back().points += check->points, parts.back().most += check->max_points;
  }
  const std::vector<double> scores = adding_up_to(std::max(*report.score, 0.0), parts);
  if (scores.size() > tests.size())
    tests.push_back({{"name", "points of no check"}, {"status", "pass"}, {"score", 0.0}});
  for (std::size_t i = 0; i < scores.size(); ++i) tests[i]["score"] = scores[i];
  return tests;
}

Json payload(const Report& report, const Limits& limits) {
  return {{"version", 1},
          {"status", !report.score   ? "error"
                     : report.passed ? "pass"
                                     : "fail"},
          {"max_score", report.score ? report.max_score : 0.0},
          {"tests", report.score ? tests_of(report, limits) : Json::array()}};
}

}  // namespace

std::string render_classroom(const nlohmann::json& json) {
  const Report report = read_report(json);
  std::string text;
  for (const Limits& limits : kLimits) {
    text = base64(payload(report, limits).dump(-1, ' ', true, Json::error_handler_t::replace));
    if (text.size() <= kLimit) break;
  }
  return text;
}

}  // namespace labrig::reports
