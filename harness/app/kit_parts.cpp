#include "kit_parts.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "console.hpp"
#include "grading.hpp"
#include "labrig/error.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"
#include "supervisor/client.hpp"
#include "supervisor/reference_store.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

namespace {

std::string record(const Context& context, const spec::LabSpec& lab, std::vector<spec::Case> cases, bool with_traces) {
  supervisor::Job job = make_job(context, lab, {}, std::move(cases), 0);
  job.record_reference = true;
  if (job.solution.empty())
    throw Error("no-solution", "the lab " + lab.id + " has no built reference solution",
                "the kit's figures come from it, and no solution.labrig.so lies beside the lab or among the plugins",
                "build the solution first (make build)");
  Progress progress(context, "recording the reference of " + lab.id);
  const supervisor::RunResult run =
      supervisor::run_supervised(job, [&](std::size_t done, std::size_t total) { progress.show(done, total); });
  if (run.interrupted)
    throw Error("interrupted", "no kit was made", "the run of the reference solution was interrupted", "try again");
  for (const grade::CaseOutcome& outcome : run.outcomes)
    if (!outcome.reference)
      throw Error("reference-failed", "the reference solution failed in " + outcome.plan.id,
                  outcome.reason ? grade::in_full(*outcome.reason) : "no reason was given",
                  "mend the lab or its solution");
  return supervisor::shipped_figures(lab, run.outcomes, with_traces);
}

}  // namespace

std::vector<spec::LabSpec> labs_for_kit(const Context& context, const std::vector<std::string>& ids) {
  std::vector<spec::LabSpec> labs;
  if (ids.empty())
    for (const fs::path& folder : lab_folders(context)) labs.push_back(spec::load_lab(folder).value());
  for (const std::string& id : ids) {
    const bool twice = std::ranges::any_of(labs, [&](const spec::LabSpec& lab) { return lab.id == id; });
    if (!twice) labs.push_back(spec::load_lab(context.lab(id)).value());
  }
  if (labs.empty())
    throw Error("no-labs", "there is no lab to make a kit of", "no folder with labs was found",
                "give the folder that holds them with --labs DIR");
  return labs;
}

std::string figures_for_kit(const Context& context, const spec::LabSpec& lab, const std::string& secret,
                            kit::Audience audience) {
  spec::PlanOptions plan;
  plan.secret = secret;
  plan.hidden = audience == kit::Audience::grader;
  std::vector<spec::Case> cases = spec::plan_cases(lab, plan);
  const std::optional<std::string> shipped = kit::shipped_figures_of(lab, cases);
  if (shipped && audience == kit::Audience::grader) return *shipped;
  // Students see the reference's timeline beside theirs, where there is a solution to record it with.
  if (shipped && make_job(context, lab, {}, {}, 1).solution.empty()) return *shipped;
  return record(context, lab, std::move(cases), audience == kit::Audience::students);
}

StagedFolder::StagedFolder(const fs::path& out) {
  const fs::path parent = fs::absolute(out).lexically_normal().parent_path();
  path_ = parent / (".labrig-kit-" + store::random_token());
  std::error_code failed;
  fs::create_directories(path_, failed);
  if (failed)
    throw Error("cannot-write", "cannot make a folder in " + parent.string(), failed.message(),
                "check that you may write there");
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void StagedFolder::move_to(const fs::path& out) {
  std::error_code failed;
  fs::rename(path_, out, failed);
  if (failed)
    throw Error("cannot-write", "cannot write " + out.string(), failed.message(),
                "give the name of a folder that is new or empty");
}

void write_file(const fs::path& path, const std::string& text, bool executable) {
  store::write_atomically(path, text, store::Existing::replace);
  if (executable)
    fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add);
}

std::uintmax_t bytes_below(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

}  // namespace labrig::app
