// GitHub Classroom's grading reporter: base64 of a JSON object, which one environment variable of a step carries. The
// reporter stores the sum of the tests' scores, so every test has a number, and they add up to the score exactly; the
// figure in its log counts passed tests instead. Where there is no score, max_score is 0: nothing is stored, and the
// step fails by its status.
#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "check_words.hpp"
#include "format_renderers.hpp"
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

// The scores as they will be added: the last one takes what rounding left.
void make_exact(Json& tests, double total) {
  if (tests.empty()) return;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < tests.size(); ++i) sum += tests[i]["score"].get<double>();
  if (sum + tests.back()["score"].get<double>() != total) tests.back()["score"] = total - sum;
}

Json test_of(const Check& check, const Limits& limits) {
  const bool passed = check.status == "passed";
  Json test = {{"name", printable(check.id, Lines::one, limits.name)},
               {"status", passed                    ? "pass"
                          : check.status == "fault" ? "error"
                                                    : "fail"},
               {"score", check.points}};
  if (!passed && limits.message > 0)
    test["message"] = printable(check.title + "\n" + loss_in_words(check), Lines::many, limits.message);
  return test;
}

Json payload(const Report& report, const Limits& limits) {
  Json tests = Json::array();
  double rest = 0;
  std::size_t left_out = 0;
  for (const Check& check : report.checks) {
    if (check.status == "skipped") continue;
    if (tests.size() < kMostTests) {
      tests.push_back(test_of(check, limits));
    } else {
      rest += check.points;
      ++left_out;
    }
  }
  if (left_out > 0)
    tests.push_back({{"name", std::to_string(left_out) + " more checks"}, {"status", "fail"}, {"score", rest}});
  if (report.score) make_exact(tests, *report.score);
  return {{"version", 1},
          {"status", !report.score   ? "error"
                     : report.passed ? "pass"
                                     : "fail"},
          {"max_score", report.score ? report.max_score : 0.0},
          {"tests", report.score ? tests : Json::array()}};
}

}  // namespace

std::string render_classroom(const nlohmann::json& json) {
  const Report report = read_report(json);
  std::string text;
  for (const Limits& limits : kLimits) {
    text = base64(payload(report, limits).dump(-1, ' ', false, Json::error_handler_t::replace));
    if (text.size() <= kLimit) break;
  }
  return text;
}

}  // namespace labrig::reports
