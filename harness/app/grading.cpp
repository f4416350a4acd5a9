#include "grading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "backends/sim/profile.hpp"
#include "build/build_submission.hpp"
#include "build/installation.hpp"
#include "console.hpp"
#include "loader/inspection.hpp"
#include "store/digest.hpp"
#include "store/environment.hpp"
#include "supervisor/client.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::string_view kPluginEnding = ".labrig.so";

std::string name_of(const fs::path& path) {
  std::string name = fs::weakly_canonical(path).filename().string();
  if (name.ends_with(kPluginEnding)) name.resize(name.size() - kPluginEnding.size());
  return name;
}

Submitted from_folder(const Context& context, const spec::LabSpec& lab, const fs::path& path, build::Purpose purpose) {
  Submitted submitted;
  submitted.facts = {name_of(path), "", "folder"};
  const auto refuse = [&](const Error& error) {
    if (is_of_the_machine(error) || error.code() == "no-such-folder" || error.code() == "interrupted") throw error;
    submitted.refusal = error;
    return submitted;
  };
  const Result<build::SubmissionSource> source = build::read_submission(path, lab.files);
  if (!source) return refuse(source.error());
  submitted.facts.hash = source.value().hash;
  const Progress progress(context, "building " + submitted.facts.name);
  const Result<build::BuiltSubmission> built =
      build::build_submission(source.value(), lab.folder, build::installation_at(context.root), purpose);
  if (!built) return refuse(built.error());
  submitted.plugin = built.value().plugin;
  submitted.warnings = built.value().warnings;
  return submitted;
}

Submitted from_plugin(const fs::path& path) {
  Submitted submitted;
  submitted.facts = {name_of(path), store::sha256_hex(store::read_file(path).value()), "plugin"};
  submitted.plugin = fs::absolute(path);
  return submitted;
}

// The solution's plugin: beside the lab, beside the folder of labs, or among the built ones.
fs::path solution_of(const Context& context, const spec::LabSpec& lab) {
  for (const fs::path& folder :
       {lab.folder, lab.folder.parent_path().parent_path() / "plugins" / lab.id, context.plugins(lab.id)}) {
    std::error_code ignored;
    const fs::path plugin = folder / ("solution" + std::string(kPluginEnding));
    if (fs::is_regular_file(plugin, ignored)) return fs::absolute(plugin);
  }
  return {};
}

// Keeps what is known while a run goes on, and tells it. A case that has not run earns nothing yet: time may be over
// before it does, and a submission could see to that.
class SoFar {
 public:
  SoFar(const spec::LabSpec& lab, const Submitted& submitted, const RunOptions& options,
        const std::vector<spec::Case>& cases)
      : lab_(lab), submitted_(submitted), options_(options) {
    for (const spec::Case& plan : cases) {
      grade::CaseOutcome& outcome = outcomes_.emplace_back();
      outcome.plan = plan;
      outcome.status = grade::Status::timed_out;
      outcome.reason = grade::Reason{"not-run-yet", "this case has not run yet"};
    }
    tell();
  }
  void take(std::size_t place, const grade::CaseOutcome& outcome) {
    outcomes_[place] = outcome;
    ended_.insert(place);
    tell();
  }

 private:
  void tell() const {
    if (!options_.so_far) return;
    Json report = grade::grade(lab_, outcomes_, submitted_.facts);
    for (std::size_t i = 0; i < outcomes_.size(); ++i)
      if (!ended_.contains(i)) report["cases"][i]["status"] = name_of(grade::Status::not_run);
    options_.so_far(report, ended_.size(), outcomes_.size());
  }

  const spec::LabSpec& lab_;
  const Submitted& submitted_;
  const RunOptions& options_;
  std::vector<grade::CaseOutcome> outcomes_;
  std::set<std::size_t> ended_;
};

}  // namespace

std::string read_secret(const std::string& file) {
  std::string secret = store::read_file(file).value();
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r' || secret.back() == ' ')) secret.pop_back();
  if (secret.empty())
    throw Error("empty-secret", file + " holds no secret", "the file is empty",
                "write a line of random text into it, for example: head -c 32 /dev/urandom | base64 > " + file);
  return secret;
}

std::uint64_t read_seed(const std::string& text) {
  std::size_t used = 0;
  try {
    // Not base 0: a leading 0 would mean octal.
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const std::uint64_t seed = std::stoull(text, &used, hexadecimal ? 16 : 10);
    if (used == text.size() && text.front() != '-' && text.front() != ' ') return seed;
  } catch (const std::exception&) {
  }
  throw Error("bad-seed", "'" + text + "' is no seed", "a seed is a number of up to 64 bits",
              "give it as 1234 or as 0x4d2, as reports show it");
}

Submitted take_submission(const Context& context, const spec::LabSpec& lab, const fs::path& path,
                          build::Purpose purpose) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error("no-such-submission", "there is nothing at " + path.string(), "no file and no folder has that name",
                "give a student's folder, or a built .labrig.so");
  if (!fs::is_directory(path, ignored) && !fs::is_regular_file(path, ignored))
    throw Error("no-such-submission", path.string() + " is neither a folder nor a file",
                "it is a pipe, a device or a socket, and reading it could wait for ever",
                "give a student's folder, or a built .labrig.so");
  Submitted submitted = fs::is_directory(path, ignored) ? from_folder(context, lab, path, purpose) : from_plugin(path);
  if (submitted.refusal) return submitted;
  const loader::Inspection inspection =
      loader::inspect(submitted.plugin, {LABRIG_SUBMISSION_KIND, lab.id, lab.forbidden_imports});
  if (const Error* error = inspection.error()) {
    submitted.refusal = *error;
    submitted.plugin.clear();
  }
  return submitted;
}

std::vector<spec::Case> chosen_cases(spec::LabSpec& lab, const RunOptions& options) {
  if (options.task) {
    std::set<std::string> of_task;
    for (const spec::CheckSpec& check : lab.checks)
      if (check.task == *options.task) of_task.insert(check.kinds.begin(), check.kinds.end());
    // An earlier task stays where the chosen one may need its checks: in cases of the same kind.
    std::erase_if(lab.checks, [&](const spec::CheckSpec& check) {
      const bool shared = std::any_of(check.kinds.begin(), check.kinds.end(),
                                      [&](const std::string& kind) { return of_task.contains(kind); });
      return check.task > *options.task || (check.task < *options.task && !shared);
    });
    if (of_task.empty())
      throw Error("no-such-task", fmt::format("the lab has no task {}", *options.task), "no check belongs to it",
                  "`labrig labs` shows the tasks of each lab");
  }
  std::vector<spec::Case> cases = spec::plan_cases(lab, options.plan);
  for (const spec::Case& item : cases) {
    if (item.profile == spec::kNoProfile) continue;
    if (const Result<sim::Profile> profile = sim::load_profile(item.profile); !profile)
      throw Error("unknown-profile",
                  fmt::format("scenario '{}' in {}: {}", item.scenario, (lab.folder / "lab.toml").string(),
                              profile.error().what()),
                  profile.error().why(), profile.error().fix());
  }
  std::set<std::string> kinds;
  for (const spec::CheckSpec& check : lab.checks)
    if (!options.task || check.task == *options.task) kinds.insert(check.kinds.begin(), check.kinds.end());
  std::erase_if(cases, [&](const spec::Case& item) { return !kinds.contains(item.kind); });
  return cases;
}

supervisor::Job make_job(const Context& context, const spec::LabSpec& lab, const fs::path& plugin,
                         std::vector<spec::Case> cases, int jobs) {
  supervisor::Job job;
  job.lab = fs::absolute(lab.folder);
  job.submission = plugin;
  job.solution = solution_of(context, lab);
  job.programs = context.programs;
  job.cache = build::cache_folder() / "reference";
  job.cases = std::move(cases);
  job.jobs = jobs > 0 ? jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return job;
}

std::optional<Json> run_and_grade(const Context& context, spec::LabSpec lab, const Submitted& submitted,
                                  const RunOptions& options) {
  const Clock::time_point start = Clock::now();
  store::RunFacts facts;
  facts.secret = options.plan.secret;
  if (facts.secret == spec::kPublicSecret)
    facts.notes.push_back(
        "no course secret: hidden sizes and data come from the public secret, so anybody can know them");
  Json report;
  std::vector<grade::CaseOutcome> outcomes;
  if (submitted.refusal) {
    report = grade::grade_refused(lab, submitted.facts, *submitted.refusal);
  } else {
    std::vector<spec::Case> cases = chosen_cases(lab, options);
    const supervisor::Job job = make_job(context, lab, submitted.plugin, std::move(cases), options.jobs);
    Progress progress(context, "running");
    SoFar so_far(lab, submitted, options, job.cases);
    supervisor::RunResult run = supervisor::run_supervised(
        job, [&](std::size_t done, std::size_t total) { progress.show(done, total); },
        [&](std::size_t place, const grade::CaseOutcome& outcome) { so_far.take(place, outcome); });
    if (run.interrupted) return std::nullopt;
    outcomes = std::move(run.outcomes);
    // Whoever stopped the run, it was not this program's user: no check may be left out for it.
    for (grade::CaseOutcome& outcome : outcomes) {
      if (outcome.status != grade::Status::not_run) continue;
      outcome.status = grade::Status::fault;
      outcome.reason = grade::Reason{"run-stopped", "the process that judges the cases was stopped from outside"};
    }
    report = grade::grade(lab, outcomes, submitted.facts);
  }
  facts.wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  report["environment"] = store::environment(facts, outcomes);
  return report;
}

ExitCode exit_code_of(const Json& report, const Submitted& submitted) {
  if (submitted.refusal) return kRefused;
  if (report.at("score").is_null()) return kFault;
  return report.at("passed").get<bool>() ? kPassed : kBelowPassMark;
}

}  // namespace labrig::app
