// The common path of `labrig check` and `labrig grade`: from what the student has to a report. A folder is built first;
// a plugin is looked at before anything of it runs; then the supervisor runs the cases and the grader makes the report.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "build/build_submission.hpp"
#include "commands.hpp"
#include "grade/grade.hpp"
#include "labrig/error.hpp"
#include "spec/lab_spec.hpp"
#include "spec/plan.hpp"
#include "supervisor/job.hpp"

namespace labrig::app {

// A submission that is ready to be run, or the reason why it never will be.
struct Submitted {
  grade::Submission facts;
  std::filesystem::path plugin;  // empty when refused
  std::optional<Error> refusal;
  std::string warnings;  // of the compiler
};

// `path` is a folder or a .labrig.so. Throws Error when there is nothing to grade (no such path, no compiler); what is
// wrong with the submission itself is a refusal.
Submitted take_submission(const Context& context, const spec::LabSpec& lab, const std::filesystem::path& path,
                          build::Purpose purpose = build::Purpose::grading);

// The lab that a submission is for: a plugin's manifest says it, and a folder's CMakeLists.txt in its line
// `labrig_add_submission(… LAB <id> …)`. Both are only read. Throws Error `no-such-submission`, `which-lab`.
std::string lab_of(const std::filesystem::path& path);

struct RunOptions {
  spec::PlanOptions plan;
  int jobs = 0;                      // 0: every usable core
  std::optional<std::int64_t> task;  // only the cases and checks of this task
};

// "1234" or "0x4d2". Throws Error `bad-seed`.
std::uint64_t read_seed(const std::string& text);

// The lab's cases for a run, and the lab reduced to the checks that can be decided by them.
std::vector<spec::Case> chosen_cases(spec::LabSpec& lab, const RunOptions& options);

supervisor::Job make_job(const Context& context, const spec::LabSpec& lab, const std::filesystem::path& plugin,
                         std::vector<spec::Case> cases, int jobs);

// The whole report, environment included; nothing when the run was interrupted.
std::optional<nlohmann::ordered_json> run_and_grade(const Context& context, spec::LabSpec lab,
                                                    const Submitted& submitted, const RunOptions& options);

// By what the report says.
ExitCode exit_code_of(const nlohmann::ordered_json& report, const Submitted& submitted);

}  // namespace labrig::app
