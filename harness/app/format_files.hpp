// Files of the formats that a command was asked for, and what GitHub Actions is told besides.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "formats.hpp"

namespace labrig::app {

// The value of --format. Throws Error `unknown-format`.
std::vector<reports::Format> read_formats(const std::string& list);
// What --format takes, for --help.
std::string any_format();
// The report of an earlier run, for --previous; null for an empty name. Throws Error `no-report`.
nlohmann::json read_report_file(const std::string& file);
// The report that is to be rendered. Throws Error `bad-report` as well, where it does not fit the schema in what
// renderings reckon with; in what they only show, a warning says so.
nlohmann::json read_fitting_report(const std::string& file);

// The formats by the names of their files; with the page comes the handout that it links to, from the lab's folder (may
// be empty). `previous`: the report of an earlier run, or null. `readers`: of what is made for GitHub.
std::map<std::string, std::string> render_files(const std::vector<reports::Format>& formats,
                                                const nlohmann::json& report, const std::filesystem::path& lab_folder,
                                                const nlohmann::json& previous,
                                                reports::Readers readers = reports::Readers::students);

// One step of GitHub Actions, in which one report is told, or several.
struct GithubStep {
  // Whoever can read the repository can read all of it: it is the student's copy, unless these are instructors.
  reports::Readers readers = reports::Readers::students;
  bool several = false;  // then each result for Classroom has the name of its lab besides
  reports::MessagesLeft left = {};
};

// In a step of GitHub Actions: the page of the step and, unless the answer is JSON, messages at `file` in the log, when
// `formats` has github; the result for Classroom's reporter, when it has classroom. Elsewhere nothing.
void tell_github(const Context& context, const std::vector<reports::Format>& formats, const nlohmann::json& report,
                 const std::string& file, GithubStep& step);

// Throws Error `cannot-write`.
void append_to_file(const std::filesystem::path& file, std::string_view text);

}  // namespace labrig::app
