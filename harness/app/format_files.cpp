#include "format_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "labrig/error.hpp"
#include "line.hpp"
#include "render.hpp"
#include "store/digest.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using nlohmann::json;
using reports::Format;

namespace {

bool has(const std::vector<Format>& formats, Format format) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

// The value of a variable; empty when it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The page of a step is lost as a whole when it has more than 1 MiB, so what does not fit is left out with a note.
void add_to_summary(const fs::path& file, const std::string& page) {
  constexpr std::size_t kLimit = 1024 * 1024;
  const std::string_view note = "_One more report did not fit on this page; the files of the run hold it._\n\n";
  std::error_code ignored;
  const auto size = fs::file_size(file, ignored);
  const std::size_t there = ignored ? 0 : static_cast<std::size_t>(size);
  if (there + page.size() + note.size() <= kLimit) return append_to_file(file, page);
  if (there + note.size() <= kLimit) append_to_file(file, note);
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
  json report = json::parse(text.value(), nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("lab") || !report.contains("checks") || !report["checks"].is_array())
    throw Error("no-report", file + " is no report", "it is not JSON of labrig's, or was cut short",
                "give the report.json of a graded run");
  return report;
}

std::map<std::string, std::string> render_files(const std::vector<Format>& formats, const json& report,
                                                const fs::path& lab_folder, const json& previous) {
  std::map<std::string, std::string> files;
  reports::FormatOptions options;
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
                 const std::string& file) {
  if (const std::string output = variable("GITHUB_OUTPUT"); !output.empty() && has(formats, Format::classroom))
    append_to_file(output, "result=" + reports::render(Format::classroom, report) + "\n");
  if (!has(formats, Format::github)) return;
  if (const std::string summary = variable("GITHUB_STEP_SUMMARY"); !summary.empty())
    add_to_summary(summary, reports::render(Format::github, report) + "\n");
  if (context.json || variable("GITHUB_ACTIONS") != "true") return;  // JSON: the answer is all that stands on stdout
  std::fputs(reports::github_annotations(report, file).c_str(), stdout);
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
