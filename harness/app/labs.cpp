// labrig labs: what labs there are. A hidden option records the figures of a lab's reference solution, which ship with
// the lab as reference.json (`make approve`).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "console.hpp"
#include "grading.hpp"
#include "store/atomic_file.hpp"
#include "supervisor/client.hpp"
#include "supervisor/reference_store.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

Json to_json(const spec::LabSpec& lab) {
  Json json = {{"id", lab.id},
               {"version", lab.version},
               {"title", lab.title},
               {"pass_mark", lab.pass_mark},
               {"folder", lab.folder.string()},
               {"tasks", Json::array()}};
  for (const spec::Task& task : lab.tasks) json["tasks"].push_back({{"id", task.id}, {"title", task.title}});
  return json;
}

void list(const Context& context) {
  Json all = Json::array();
  for (const fs::path& folder : lab_folders(context)) {
    const spec::LabSpec lab = spec::load_lab(folder).value();
    if (context.json) {
      all.push_back(to_json(lab));
      continue;
    }
    std::printf("%-20s %s (version %s)\n", lab.id.c_str(), lab.title.c_str(), lab.version.c_str());
    for (const spec::Task& task : lab.tasks)
      std::printf("  task %lld: %s\n", static_cast<long long>(task.id), task.title.c_str());
    std::printf("  handout: %s\n", (folder / "handout.html").string().c_str());
  }
  if (context.json)
    print_answer(all);
  else
    std::printf("start one with: labrig new LAB DIR\n");
}

// Writes <folder>/reference.json for the public secret: shapes of visible and hidden scenarios.
void record(Context& context, const std::string& id, const fs::path& folder) {
  const spec::LabSpec lab = spec::load_lab(context.lab(id)).value();
  supervisor::Job job = make_job(context, lab, {}, spec::plan_cases(lab, {}), 0);
  job.record_reference = true;
  if (job.solution.empty())
    throw Error("no-solution", "the lab " + id + " has no built reference solution",
                "no solution.labrig.so lies beside the lab or among the plugins", "build the solution first");
  Progress progress(context, "recording");
  const supervisor::RunResult run =
      supervisor::run_supervised(job, [&](std::size_t done, std::size_t total) { progress.show(done, total); });
  if (run.interrupted) {
    context.exit_code = kInterrupted;
    return;
  }
  for (const grade::CaseOutcome& outcome : run.outcomes)
    if (!outcome.reference)
      throw Error("reference-failed", "the reference solution failed in " + outcome.plan.id,
                  outcome.reason ? grade::in_full(*outcome.reason) : "no reason was given",
                  "mend the lab or its solution");
  store::write_atomically(folder / "reference.json", supervisor::shipped_figures(lab, run.outcomes),
                          store::Existing::replace);
}

}  // namespace

void add_labs(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("labs", "List the labs");
  command->footer("Exit codes: 0 done, 2 usage\nExample: labrig labs --json");
  struct Arguments {
    std::string id, record_folder;
  };
  auto arguments = std::make_shared<Arguments>();
  // Hidden: for those who maintain a lab.
  CLI::Option* recording =
      command->add_option("--record-reference", arguments->record_folder, "Write reference.json of the lab ID to DIR")
          ->group("");
  command->add_option("ID", arguments->id, "The lab, with --record-reference")->group("")->needs(recording);
  add_json_flag(*command, context);
  command->callback([arguments, &context] {
    if (arguments->record_folder.empty()) return list(context);
    record(context, arguments->id, arguments->record_folder);
  });
}

}  // namespace labrig::app
