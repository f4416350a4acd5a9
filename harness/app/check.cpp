// labrig check DIR: a student's quick loop. Builds the folder, runs the visible scenarios, says what to do next.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <regex>

#include "build/build_submission.hpp"
#include "console.hpp"
#include "grading.hpp"
#include "loader/inspection.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Arguments {
  std::string path = ".", lab, seed, device;
  std::int64_t task = 0;
  int jobs = 0;
  bool debug = false;
};

// The lab that a submission is for: a plugin's manifest says it, and a folder's CMakeLists.txt in its line
// `labrig_add_submission(… LAB <id> …)`. Both are only read.
std::string lab_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error("no-such-submission", "there is nothing at " + path.string(), "no file and no folder has that name",
                "check the spelling; `labrig new LAB DIR` makes a folder to start from");
  if (fs::is_regular_file(path, ignored)) {
    const std::string lab = loader::inspect(path, {LABRIG_SUBMISSION_KIND, "", {}}).manifest.lab;
    if (!lab.empty()) return lab;
    throw Error("which-lab", "labrig cannot tell which lab " + path.string() + " is for",
                "it is a file, but no plugin that names its lab",
                "give the folder that holds it, or a built .labrig.so");
  }
  const Result<std::string> text = store::read_file(path / "CMakeLists.txt");
  std::smatch match;
  static const std::regex pattern(R"(\bLAB\s+([a-z0-9-]+))");
  if (text && std::regex_search(text.value(), match, pattern)) return match[1];
  throw Error("which-lab", "labrig cannot tell which lab " + path.string() + " is for",
              "it has no CMakeLists.txt with a line labrig_add_submission(… LAB <id> …)",
              "name the lab: labrig check " + path.string() + " --lab ID");
}

// Becomes labrig-worker, so that `gdb --args labrig check … --debug` ends up in the student's code. With a device the
// worker only says whether the values are right there.
void run_in_one_process(Context& context, spec::LabSpec lab, const Submitted& submitted, const RunOptions& options,
                        const std::string& device) {
  std::vector<spec::Case> cases = chosen_cases(lab, options);
  const supervisor::Job job = make_job(context, lab, submitted.plugin, std::move(cases), 1);
  // One file a lab, so that the line for the debugger stays good and nothing piles up.
  const fs::path file = build::cache_folder() / "debug" / (lab.id + ".json");
  store::write_atomically(file, supervisor::to_json(job).dump(), store::Existing::replace);
  const std::string program = context.program("labrig-worker").string();
  if (device.empty() && !context.json && !context.quiet)
    std::fprintf(stderr, "in a debugger: gdb --args %s --debug %s\n", program.c_str(), file.c_str());
  std::fflush(nullptr);
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  const char* const json = context.json ? "--json" : nullptr;
  if (device.empty())
    ::execl(program.c_str(), program.c_str(), "--debug", file.c_str(), json, nullptr);
  else
    ::execl(program.c_str(), program.c_str(), "--values", file.c_str(), device.c_str(), json, nullptr);
  throw Error("worker-not-started", "the program labrig-worker could not be started", std::strerror(errno),
              "check that labrig is installed completely: run `labrig doctor`");
}

// The command of a report, for the place where the student stands.
std::string here(const std::string& command, const Arguments& arguments) {
  const std::string general = "labrig check .";
  if (!command.starts_with(general)) return command;
  const std::string lab = arguments.lab.empty() ? "" : " --lab " + arguments.lab;
  return "labrig check " + arguments.path + lab + command.substr(general.size());
}

void run(Context& context, const Arguments& arguments) {
  const std::string id = arguments.lab.empty() ? lab_of(arguments.path) : arguments.lab;
  const spec::LabSpec lab = spec::load_lab(context.lab(id)).value();
  RunOptions options;
  options.jobs = arguments.jobs;
  options.plan.hidden = false;
  if (!arguments.seed.empty()) options.plan.seed = read_seed(arguments.seed);
  if (arguments.task != 0) options.task = arguments.task;
  const Submitted submitted = take_submission(context, lab, arguments.path,
                                              arguments.debug ? build::Purpose::debugging : build::Purpose::grading);
  options.plan.submission_hash = submitted.facts.hash;
  if (!submitted.warnings.empty() && !context.quiet) std::fprintf(stderr, "%s\n", submitted.warnings.c_str());
  if ((arguments.debug || !arguments.device.empty()) && !submitted.refusal)
    return run_in_one_process(context, lab, submitted, options, arguments.device);
  std::optional<Json> report = run_and_grade(context, lab, submitted, options);
  if (!report) {
    context.exit_code = kInterrupted;
    return;
  }
  if (Json& step = report->at("next_step"); !step.is_null()) step["command"] = here(step["command"], arguments);
  print_report(context, *report);
  context.exit_code = exit_code_of(*report, submitted);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("check", "Build your folder and try it on the visible scenarios");
  command->footer(
      "Nothing is handed in and nothing is kept. Hidden scenarios run in `labrig grade` only.\n"
      "Example: labrig check my-solution --task 1");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("DIR", arguments->path, "Your folder (default: this one), or a built .labrig.so");
  command->add_option("--lab", arguments->lab, "The lab's id (default: what the folder's CMakeLists.txt says)")
      ->type_name("ID");
  command->add_option("--task", arguments->task, "Only this task")->type_name("N")->check(CLI::Range(1, 1000));
  command->add_option("--seed", arguments->seed, "Seed of the data, as a report shows it")->type_name("N");
  command->add_option("--jobs", arguments->jobs, "Cases at a time (default: every usable core)")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  CLI::Option* device =
      command
          ->add_option("--device", arguments->device,
                       "Only whether the values are right on this card; evidence, without points: cuda, cuda:1, sim")
          ->type_name("CARD")
          ->check(CLI::IsMember({"cuda", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "sim", "sim:0"}));
  command->add_flag("--debug", arguments->debug, "Run the cases in one unprotected process, for a debugger")
      ->excludes(device);
  add_json_flag(*command, context);
  command->callback([arguments, &context] { run(context, *arguments); });
}

}  // namespace labrig::app
