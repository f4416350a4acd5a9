// labrig ci: grades what a repository's labrig.toml names, writes the formats that it asks for, and ends with one exit
// code for all. Knows GitHub Actions and GitLab CI by their environment.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "ci_files.hpp"
#include "console.hpp"
#include "format_files.hpp"
#include "grading.hpp"
#include "kit/ci_file.hpp"
#include "render.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Arguments {
  std::string config = "labrig.toml", init;
  int jobs = 0;
};

// What came of one submission.
struct Graded {
  std::optional<Json> report;  // as its view shows it
  std::optional<Error> error;
  ExitCode code = kFault;
};

// One code for all: the worst. What says least about the submissions is the worst: an interruption, then faults of
// ours, of the machine and of the file, then submissions that are refused, then those below the pass mark.
int rank(ExitCode code) {
  constexpr ExitCode kFromBest[] = {kPassed, kBelowPassMark, kRefused, kUsage, kUnfit, kFault, kInterrupted};
  return static_cast<int>(std::ranges::find(kFromBest, code) - kFromBest);
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "true";
}

std::string secret_of(const kit::CiSubmission& submission) {
  if (submission.secret.empty()) return spec::kPublicSecret;
  const char* value = std::getenv(submission.secret.c_str());
  if (value != nullptr && *value != '\0') return value;
  throw Error("no-secret", submission.place + "the environment variable " + submission.secret + " is not set",
              "the file says that it holds the course's secret",
              "set it in the settings of the CI system, or take the line `secret` out: then the public secret is used");
}

// One line of the answer. Nothing that a submission is called or printed can begin a line of its own, or one of the
// commands that GitHub's log knows: `::` at the start of a line, `##[` anywhere.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  for (std::size_t at = text.find("##["); at != std::string::npos; at = text.find("##[", at)) text.insert(at + 2, " ");
  return text.starts_with("::") ? "./" + text : text;
}

std::vector<reports::Format> formats_of(const kit::CiSubmission& submission) {
  std::string list;
  for (const std::string& name : submission.formats) list += (list.empty() ? "" : ",") + name;
  // A merge request shows what its JUnit file says.
  if (is_set("GITLAB_CI")) list += (list.empty() ? "" : ",") + std::string("junit");
  return list.empty() ? std::vector<reports::Format>{} : reports::formats_from(list);
}

void write_files(const fs::path& folder, const spec::LabSpec& lab, const std::vector<reports::Format>& formats,
                 const nlohmann::json& report, reports::Readers readers) {
  for (const auto& [name, text] : render_files(formats, report, lab.folder, nullptr, readers))
    store::write_atomically(folder / name, text, store::Existing::replace);
}

// Where messages are put: the first file of an answer, or the plugin itself.
std::string source_of(const kit::CiSubmission& submission, const fs::path& folder, const spec::LabSpec& lab) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(folder / submission.path, ignored);
  return (is_folder ? submission.path / lab.files.front() : submission.path).generic_string();
}

Graded grade_one(Context& context, const kit::CiSubmission& submission, const fs::path& folder, int jobs,
                 GithubStep& step) {
  Graded graded;
  spec::LabSpec lab = spec::load_lab(context.lab(submission.lab)).value();
  if (submission.pass_mark) lab.pass_mark = *submission.pass_mark;
  RunOptions options;
  options.jobs = jobs;
  options.plan.secret = secret_of(submission);
  const Submitted submitted = take_submission(context, lab, folder / submission.path);
  options.plan.submission_hash = submitted.facts.hash;
  const std::optional<Json> report = run_and_grade(context, lab, submitted, options);
  if (!report) {
    graded.code = kInterrupted;
    return graded;
  }
  graded.code = exit_code_of(*report, submitted);
  const nlohmann::json whole(*report),
      shown = submission.view == kit::View::student ? reports::student_view(whole) : whole;
  step.readers = submission.view == kit::View::student ? reports::Readers::students : reports::Readers::instructors;
  std::vector<reports::Format> formats = formats_of(submission);
  write_files(folder / submission.out, lab, formats, shown, step.readers);
  if (is_set("GITHUB_ACTIONS")) formats.push_back(reports::Format::github);  // told there whether or not it is a file
  tell_github(context, formats, shown, source_of(submission, folder, lab), step);
  graded.report = Json(shown);
  return graded;
}

// An error of one submission does not keep the others from being graded.
Graded grade_or_explain(Context& context, const kit::CiSubmission& submission, const fs::path& folder, int jobs,
                        GithubStep& step) {
  try {
    return grade_one(context, submission, folder, jobs, step);
  } catch (const Error& error) {
    if (error.code() == "interrupted") return {std::nullopt, std::nullopt, kInterrupted};
    return {std::nullopt, error, is_of_the_machine(error) ? kUnfit : kUsage};
  }
}

std::string line_of(const kit::CiSubmission& submission, const Graded& graded) {
  const std::string head = submission.path.string() + " (" + submission.lab + "): ";
  if (graded.error) return one_line(head + "not graded: " + graded.error->what());
  if (!graded.report) return one_line(head + "interrupted");
  const Json& report = *graded.report;
  if (report.at("score").is_null()) return one_line(head + "no score; " + report.at("verdict").get<std::string>());
  const char* end = graded.code == kPassed ? "passed" : graded.code == kRefused ? "refused" : "below the pass mark";
  std::string line = fmt::format("{}{}, {:g} of {:g} points", head, end, report.at("score").get<double>(),
                                 report.at("max_score").get<double>());
  if (const Json& next = report.at("next_step"); !next.is_null() && graded.code != kPassed)
    line += "; next: " + next.at("text").get<std::string>();
  return one_line(line);
}

Json answer_of(const kit::CiSubmission& submission, const Graded& graded) {
  Json answer = {{"path", submission.path.string()},
                 {"lab", submission.lab},
                 {"exit_code", graded.code},
                 {"out", submission.out.string()}};
  if (graded.report)
    for (const char* key : {"score", "max_score", "passed", "verdict"}) answer[key] = graded.report->at(key);
  if (graded.error)
    answer["error"] = {{"code", graded.error->code()},
                       {"what", graded.error->what()},
                       {"why", graded.error->why()},
                       {"fix", graded.error->fix()}};
  return answer;
}

void run(Context& context, const Arguments& arguments) {
  const fs::path file = arguments.config, folder = fs::absolute(file).lexically_normal().parent_path();
  const Result<std::string> text = store::read_file(file);
  if (!text)
    throw Error("no-ci-file", "there is no file " + file.string(), text.error().why(),
                "`labrig ci --init github` or `labrig ci --init gitlab` writes one to start from");
  const std::vector<kit::CiSubmission> submissions =
      kit::parse_ci_file(text.value(), file.string(), reports::format_names()).value();
  Json answers = Json::array();
  ExitCode worst = kPassed;
  GithubStep step;
  step.several = submissions.size() > 1;
  for (const kit::CiSubmission& submission : submissions) {
    const Graded graded = grade_or_explain(context, submission, folder, arguments.jobs, step);
    if (rank(graded.code) > rank(worst)) worst = graded.code;
    answers.push_back(answer_of(submission, graded));
    if (graded.error && !context.json) std::fprintf(stderr, "%s\n", for_the_log(graded.error->message()).c_str());
    if (!context.quiet && !context.json) std::printf("%s\n", line_of(submission, graded).c_str());
    std::fflush(stdout);
    if (worst == kInterrupted) break;
  }
  if (context.json) print_answer({{"exit_code", worst}, {"submissions", answers}});
  context.exit_code = worst;
}

}  // namespace

void add_ci(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("ci", "Grade what a repository's labrig.toml names");
  command->footer(
      "Ends with the code of the worst submission, in the order 130, 5, 4, 2, 3, 1, 0.\n"
      "Exit codes: 0 all passed, 1 below the pass mark, 2 usage, 3 refused before any code ran,\n"
      "            4 environment unfit, 5 fault of the harness, 130 interrupted\n"
      "Example: labrig ci --init github\n"
      "         labrig ci --config labrig.toml");
  auto arguments = std::make_shared<Arguments>();
  CLI::Option* config =
      command->add_option("--config", arguments->config, "The file (default: labrig.toml)")->type_name("FILE");
  command->add_option("--jobs", arguments->jobs, "Cases at a time (default: every usable core)")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  command
      ->add_option("--init", arguments->init,
                   "Write a workflow file for this CI system, and labrig.toml where there is none")
      ->type_name("SYSTEM")
      ->check(CLI::IsMember({"github", "gitlab"}))
      ->excludes(config);
  add_json_flag(*command, context);
  command->callback([arguments, &context] {
    if (arguments->init.empty()) return run(context, *arguments);
    write_ci_files(context, arguments->init);
  });
}

}  // namespace labrig::app
