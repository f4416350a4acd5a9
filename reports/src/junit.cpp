// JUnit XML, of the elements that every reader knows: valid against the schema of Jenkins' xUnit plugin and against
// Windyroad's, which wants the parts of a suite in one order, and read by GitLab, which shows the text of a failure and
// takes a test's name for what it is called from run to run. So a test is named by its check's id, which does not
// change, and the sentence about it stands in the failure.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "causes.hpp"
#include "check_words.hpp"
#include "format_renderers.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

// Texts of a Report are printable already: no control character and nothing that XML forbids is left.
std::string text_of(const std::string& text) { return escape_html(text); }

std::string attribute(std::string_view name, const std::string& value) {
  std::string line = value;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\t', ' ');
  return fmt::format(" {}=\"{}\"", name, escape_html(line));
}

// Both schemas want names of more than blanks.
std::string named(const std::string& name, const char* otherwise) {
  return name.find_first_not_of(' ') == std::string::npos ? otherwise : name;
}

// "2026-12-01T10:20:30", as xs:dateTime without a zone: digits in their places, and a day and a time that there are;
// the start of 1970 when the report says none.
std::string timestamp(const std::string& generated_at) {
  const std::string none = "1970-01-01T00:00:00", time = generated_at.substr(0, none.size());
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (time.size() < none.size()) return none;
  for (std::size_t i = 0; i < none.size(); ++i)
    if (is_digit(none[i]) ? !is_digit(time[i]) : time[i] != none[i]) return none;
  const auto number = [&](std::size_t at, std::size_t digits) { return std::stoi(time.substr(at, digits)); };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const bool there = day.ok() && number(0, 4) > 0 && number(11, 2) < 24 && number(14, 2) < 60 && number(17, 2) < 60;
  return there ? time : none;
}

std::string outcome(const Check& check) {
  const std::string told = fmt::format("{}\n{}\n{}\n", check.title, points_in_words(check), loss_in_words(check));
  const std::string message = check.reason.text.empty() ? check.title : check.reason.text;
  const std::string code = check.reason.code.empty() ? check.status : check.reason.code;
  // GitLab shows the text, others the attribute.
  if (check.status == "skipped")
    return fmt::format("<skipped{}>{}</skipped>", attribute("message", message), text_of(message));
  const char* element = lost(check) ? "failure" : "error";
  return fmt::format("<{0}{1}{2}>{3}</{0}>", element, attribute("message", message), attribute("type", code),
                     text_of(told));
}

std::string test_case(const Report& report, const Check& check, const std::string& name, std::string_view file) {
  std::string out = fmt::format("    <testcase{}{} time=\"0.000\"",
                                attribute("classname", fmt::format("{}.task-{}", report.lab_id, check.task)),
                                attribute("name", name));
  if (!file.empty()) out += attribute("file", printable(file));
  return check.status == "passed" ? out + "/>\n" : out + ">" + outcome(check) + "</testcase>\n";
}

std::string properties(const Report& report) {
  std::string out = "    <properties>\n";
  const auto add = [&](const char* name, const std::string& value) {
    out += fmt::format("      <property name=\"{}\"{}/>\n", name, attribute("value", value));
  };
  add("lab", report.lab_id);
  add("lab.version", report.lab_version);
  add("submission.hash", report.hash);
  add("score", report.score ? points_text(*report.score) : "");
  add("max_score", points_text(report.max_score));
  return out + "    </properties>\n";
}

// A reader takes the first of two tests of one name: the second gets a number, and no name that another has.
class Names {
 public:
  std::string unused(const std::string& id) {
    std::string name = id;
    for (int& number = numbers_[id]; !used_.insert(name).second;)
      name = fmt::format("{} ({})", id, number = std::max(number + 1, 2));
    return name;
  }

 private:
  std::set<std::string> used_;
  std::map<std::string, int> numbers_;
};

struct Counts {
  std::size_t failures = 0, errors = 0, skipped = 0;
};

Counts counted(const Report& report) {
  Counts counts;
  for (const Check& check : report.checks) {
    if (check.status == "passed") continue;
    ++(lost(check) ? counts.failures : check.status == "skipped" ? counts.skipped : counts.errors);
  }
  return counts;
}

double seconds_of(const nlohmann::json& report) {
  const nlohmann::json& environment = report.contains("environment") ? report["environment"] : nlohmann::json();
  if (!environment.is_object() || !environment.contains("wall_ms") || !environment["wall_ms"].is_number()) return 0;
  return std::clamp(environment["wall_ms"].get<double>() / 1000, 0.0, 1e7);
}

}  // namespace

std::string render_junit(const nlohmann::json& json, std::string_view file) {
  const Report report = read_report(json);
  const Counts counts = counted(report);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite";
  out += attribute("name", named(report.lab_title, "labrig"));
  out += attribute("package", report.lab_id);
  out += fmt::format(" id=\"0\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                     report.checks.size(), counts.failures, counts.errors, counts.skipped, seconds_of(json));
  out += attribute("timestamp", timestamp(environment_value(report, "made at"))) + " hostname=\"labrig\">\n";
  out += properties(report);
  Names names;
  for (const Check& check : report.checks)
    out += test_case(report, check, names.unused(named(check.id, "unnamed")), file);
  std::string said = report.verdict;
  if (report.next_step) said += "\nnext: " + report.next_step->text + "\n" + report.next_step->command;
  out += "    <system-out>" + text_of(said) + "</system-out>\n    <system-err></system-err>\n";
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace labrig::reports
