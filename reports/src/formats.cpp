#include "formats.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "format_renderers.hpp"

namespace labrig::reports {
namespace {

struct Known {
  Format format;
  std::string_view name, file;
};
constexpr std::array kKnown = {
    Known{Format::html, "html", "report.html"},
    Known{Format::json, "json", "report.json"},
    Known{Format::junit, "junit", "junit.xml"},
    Known{Format::gradescope, "gradescope", "results.json"},
    Known{Format::markdown, "markdown", "report.md"},
    Known{Format::csv, "csv", "report.csv"},
    Known{Format::trace, "trace", "trace.json"},
    Known{Format::github, "github", "github.md"},
    Known{Format::classroom, "classroom", "classroom.txt"},
};

const Known& known(Format format) {
  return *std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& one) { return one.format == format; });
}

Format format_named(std::string_view name) {
  for (const Known& one : kKnown)
    if (one.name == name) return one.format;
  std::string names;
  for (const Known& one : kKnown) names += (names.empty() ? "" : ", ") + std::string(one.name);
  throw std::invalid_argument("'" + std::string(name) + "' is no format; there are " + names);
}

nlohmann::json shown_to(Readers readers, const nlohmann::json& report) {
  return readers == Readers::students && report.is_object() ? student_view(report) : report;
}

}  // namespace

std::vector<Format> formats_from(std::string_view list) {
  std::vector<Format> formats;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const Format format = format_named(list.substr(at, end - at));
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) formats.push_back(format);
    at = end + 1;
  }
  return formats;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Known& one : kKnown) names.emplace_back(one.name);
  return names;
}

std::string_view name_of(Format format) { return known(format).name; }
std::string_view file_of(Format format) { return known(format).file; }

std::string render(Format format, const nlohmann::json& report, const FormatOptions& options) {
  switch (format) {
    case Format::html:
      return render_html(report, options.html);
    case Format::json:
      return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    case Format::junit:
      return render_junit(report, options.junit_file);
    case Format::gradescope:
      return render_gradescope(report);
    case Format::markdown:
      return render_markdown(report, kCommentLimit);
    case Format::github:  // the page of a step
      return render_markdown(shown_to(options.github_readers, report), options.github_page);
    case Format::csv:
      return render_csv(report);
    case Format::trace:
      return render_chrome_trace(report);
    case Format::classroom:
      return render_classroom(shown_to(options.github_readers, report));
  }
  return {};
}

}  // namespace labrig::reports
