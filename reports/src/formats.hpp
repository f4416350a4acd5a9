// Files for other programs: what `--format html,json,junit,…` names. Each is a pure function of a report, and safe
// whatever a submission is called or prints. Read next: render.hpp (the page and the student's copy).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "render.hpp"

namespace labrig::reports {

enum class Format { html, json, junit, gradescope, markdown, csv, trace, github, classroom };

// "html,junit" in any order; twice the same counts once. Throws std::invalid_argument with a sentence that lists the
// formats for a name that is none.
std::vector<Format> formats_from(std::string_view list);
std::string_view name_of(Format format);
// Of all formats: the one list of them.
std::vector<std::string> format_names();
// report.html, report.json, junit.xml, results.json, report.md, report.csv, trace.json, github.md, classroom.txt.
std::string_view file_of(Format format);

// Who reads the repository, and with it what GitHub shows.
enum class Readers { students, instructors };

struct FormatOptions {
  HtmlOptions html;
  // JUnit: the source file that failures are shown at; empty (GitLab reads a test without a file best): none.
  std::string junit_file;
  // GitHub's page and Classroom's result are made from the student's copy, unless only instructors read them.
  // Gradescope's file always is: students read it.
  Readers github_readers = Readers::students;
  // Bytes that GitHub's page may have: 1 MiB for all reports of a step.
  std::size_t github_page = 1'000'000;
};

// The whole file. Throws nlohmann::json::exception when `report` is not an object.
std::string render(Format format, const nlohmann::json& report, const FormatOptions& options = {});

// Gradescope's results.json while checks are still running: what is known so far, and the rest named as not run yet.
// `finished` cases of `total` have ended.
std::string render_gradescope_partial(const nlohmann::json& report, std::size_t finished, std::size_t total);

// How many messages of each kind a step of GitHub Actions still shows; it drops the others without a word.
struct MessagesLeft {
  int errors = 10, warnings = 10;
};

// Workflow commands for GitHub's log: the first errors and warnings as far as `left` goes, and how many there are
// besides; escaped, so that nothing of a submission can add a command of its own. From the copy that `readers` may see.
std::string github_annotations(const nlohmann::json& report, std::string_view file, Readers readers,
                               MessagesLeft& left);

// For anything else that goes into GitHub's log: `::` with blanks at most in front of it on a line, and `##[` anywhere,
// start a command there; both are taken apart by a blank. In JSON neither occurs but `##[` inside strings, where `#`
// becomes an escape, so that the same is read.
std::string without_commands(std::string_view text);
std::string json_without_commands(std::string_view json);

}  // namespace labrig::reports
