#include "format_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "console.hpp"
#include "labrig/error.hpp"
#include "line.hpp"
#include "render.hpp"
#include "report_fit.hpp"
#include "store/digest.hpp"
#include "text.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using nlohmann::json;
using reports::Format;

namespace {

constexpr int kDeepest = 64;  // levels of lists and objects in a file; a report has nine

bool has(const std::vector<Format>& formats, Format format) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

// The value of a variable; empty when it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The page of a step is lost as a whole when it has more than 1 MiB, so a report gets what is left, cut with its own
// notes; where that is too little, one note stands for it.
void add_to_summary(const fs::path& file, const json& report, reports::FormatOptions options) {
  constexpr std::size_t kLimit = 1024 * 1024, kLeast = 64 * 1024;
  const std::string_view note = "_One more report did not fit on this page; the files of the run hold it._\n\n";
  std::error_code ignored;
  const auto size = fs::file_size(file, ignored);
  const std::size_t there = ignored ? 0 : static_cast<std::size_t>(size);
  // Notes of later reports want room too.
  const std::size_t left = there + kLeast / 2 < kLimit ? kLimit - there - kLeast / 2 : 0;
  options.github_page = std::min(options.github_page, left);
  if (left >= kLeast) return append_to_file(file, reports::render(Format::github, report, options) + "\n");
  if (there + note.size() <= kLimit) append_to_file(file, note);
}

// Without the library's numbers, which mean nothing to a reader: "[json.exception.parse_error.101] parse error at …".
std::string parser_said(const std::string& text) {
  const std::size_t end = text.find("] ");
  return reports::printable(end == std::string::npos ? text : text.substr(end + 2), reports::Lines::one, 300);
}

// The lab's id as a part of a step's output: letters, digits, '-' and '_'.
std::string output_name(const json& report) {
  const json& lab = report.at("lab");
  const auto id = lab.is_object() ? lab.find("id") : lab.end();
  std::string name =
      lab.is_object() && id != lab.end() && id->is_string() ? reports::anchor(id->get<std::string>()) : "";
  std::replace(name.begin(), name.end(), '.', '-');
  return name;
}

std::string more_places(std::size_t misfits) {
  if (misfits < 2) return "";
  return " (and " + std::to_string(misfits - 1) + (misfits == 2 ? " more place)" : " more places)");
}

std::string warning_of(const std::vector<reports::Misfit>& misfits, const std::string& file) {
  const reports::Misfit& first = misfits.front();
  return "warning: " + first.place + " in " + file + " is " + first.found + more_places(misfits.size()) +
         "; the schema of reports wants " + first.wanted + ": it is shown as it is, or left out\n";
}

}  // namespace

std::vector<Format> read_formats(const std::string& list) {
  const std::vector<std::string> names = reports::format_names();
  std::istringstream words(list + ",");  // a list that is empty, or ends with a comma, has an empty name
  for (std::string word; std::getline(words, word, ',');)
    if (std::find(names.begin(), names.end(), word) == names.end())
      throw Error("unknown-format", "'" + word + "' is no format", "--format takes " + any_format(),
                  guess_or(word, names, "for example --format html,junit"));
  return reports::formats_from(list);
}

std::string any_format() { return "any of " + list_of(reports::format_names()) + ", with commas between them"; }

json read_report_file(const std::string& file) {
  if (file.empty()) return nullptr;
  const Result<std::string> text = store::read_file(file);
  if (!text)
    throw Error("no-report", "the report " + file + " cannot be read", text.error().why(),
                "give the report.json of a graded run");
  json report;
  try {
    // Whatever walks through a report calls itself once a level.
    report = json::parse(text.value(), [&](int depth, json::parse_event_t, const json&) {
      if (depth <= kDeepest) return true;
      throw Error("no-report", file + " is no report",
                  "its lists and objects are nested more than " + std::to_string(kDeepest) + " deep",
                  "give the report.json of a graded run");
    });
  } catch (const json::exception& error) {
    throw Error("no-report", file + " is no report", "it is not JSON, or was cut short: " + parser_said(error.what()),
                "give the report.json of a graded run");
  }
  if (!report.is_object() || !report.contains("lab") || !report.contains("checks") || !report["checks"].is_array())
    throw Error("no-report", file + " is no report",
                "it is JSON, but not labrig's: it has no lab, or no list of checks",
                "give the report.json of a graded run");
  return report;
}

json read_fitting_report(const std::string& file) {
  json report = read_report_file(file);
  const std::vector<reports::Misfit> misfits = reports::misfits_of(report);
  const auto worst = std::find_if(misfits.begin(), misfits.end(), [](const auto& one) { return one.grave; });
  if (worst == misfits.end()) {
    if (!misfits.empty()) std::fputs(for_the_log(warning_of(misfits, file)).c_str(), stderr);
    return report;
  }
  const auto grave = std::count_if(worst, misfits.end(), [](const auto& one) { return one.grave; });
  throw Error("bad-report", file + " does not fit the schema of reports: " + worst->place + " is " + worst->found,
              "it must be " + worst->wanted + more_places(static_cast<std::size_t>(grave)) +
                  "; each format would say something else",
              "give the report.json as `labrig grade` wrote it; docs/formats.md names the schema");
}

std::map<std::string, std::string> render_files(const std::vector<Format>& formats, const json& report,
                                                const fs::path& lab_folder, const json& previous,
                                                reports::Readers readers) {
  std::map<std::string, std::string> files;
  reports::FormatOptions options;
  options.github_readers = readers;
  if (previous.is_object()) options.html.previous = &previous;
  if (has(formats, Format::html) && !lab_folder.empty()) {
    // The handout lies beside the page that links to it, so that the folder can be passed on.
    if (Result<std::string> handout = store::read_file(lab_folder / "handout.html"); handout.ok()) {
      options.html.handout = "handout.html";
      files["handout.html"] = std::move(handout).value();
    }
  }
  for (const Format format : formats)
    files[std::string(reports::file_of(format))] = reports::render(format, report, options);
  return files;
}

void tell_github(const Context& context, const std::vector<Format>& formats, const json& report,
                 const std::string& file, GithubStep& step) {
  reports::FormatOptions options;
  options.github_readers = step.readers;
  if (const std::string output = variable("GITHUB_OUTPUT"); !output.empty() && has(formats, Format::classroom)) {
    const std::string result = reports::render(Format::classroom, report, options) + "\n";
    append_to_file(output, "result=" + result);
    if (step.several) append_to_file(output, "result-" + output_name(report) + "=" + result);
  }
  if (!has(formats, Format::github)) return;
  if (const std::string summary = variable("GITHUB_STEP_SUMMARY"); !summary.empty())
    add_to_summary(summary, report, options);
  if (context.json || variable("GITHUB_ACTIONS") != "true") return;  // JSON: the answer is all that stands on stdout
  std::fputs(reports::github_annotations(report, file, step.readers, step.left).c_str(), stdout);
  std::fflush(stdout);
}

void append_to_file(const fs::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::app | std::ios::binary);
  stream << text << std::flush;
  if (!stream)
    throw Error("cannot-write", "nothing can be added to " + file.string(), std::strerror(errno),
                "make the file writable; GitHub sets its name in an environment variable of the step");
}

}  // namespace labrig::app
