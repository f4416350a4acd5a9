// labrig check DIR: a student's quick loop. Builds the folder, runs the visible scenarios, says what to do next.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "build/build_submission.hpp"
#include "console.hpp"
#include "grading.hpp"
#include "render.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"
#include "text.hpp"
#include "watch.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Arguments {
  std::string path = ".", lab, seed, device;
  std::int64_t task = 0;
  int jobs = 0;
  bool debug = false, watch = false, html = false;
  std::string html_file;  // empty: in the folder of this submission's last check
};

// What the last check of a submission left, to compare the next one with: report.json, and the page.
fs::path last_check(const std::string& lab, const fs::path& path) {
  return build::cache_folder() / "check" /
         (lab + "-" + store::sha256_hex(fs::weakly_canonical(path).string()).substr(0, 16));
}

// The page of this report, with what changed since the last one. The handout lies beside it, as the page links to it.
fs::path write_page(const Arguments& arguments, const spec::LabSpec& lab, const nlohmann::json& report,
                    const nlohmann::json& previous) {
  const fs::path file =
      arguments.html_file.empty() ? last_check(lab.id, arguments.path) / "report.html" : fs::path(arguments.html_file);
  if (const Result<std::string> there = store::read_file(file);
      there.ok() && !there.value().starts_with("<!doctype html>"))
    throw Error("would-overwrite", file.string() + " is there already, and is no page",
                "--html-file replaces pages only", "give the name of a new file, or of an earlier page");
  reports::HtmlOptions options;
  if (previous.is_object()) options.previous = &previous;
  if (const Result<std::string> handout = store::read_file(lab.folder / "handout.html");
      handout.ok() && arguments.html_file.empty()) {
    store::write_atomically(file.parent_path() / "handout.html", handout.value(), store::Existing::replace);
    options.handout = "handout.html";
  }
  store::write_atomically(file, reports::render_html(report, options), store::Existing::replace);
  return file;
}

// Keeps the report for the next check; a check that cannot keep it is a check all the same.
nlohmann::json replace_last(const spec::LabSpec& lab, const Arguments& arguments, const nlohmann::json& report) {
  const fs::path file = last_check(lab.id, arguments.path) / "report.json";
  const Result<std::string> text = store::read_file(file);
  nlohmann::json previous =
      text.ok() ? nlohmann::json::parse(text.value(), nullptr, /*allow_exceptions=*/false) : nlohmann::json();
  try {
    store::write_atomically(file, report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                            store::Existing::replace);
  } catch (const Error&) {
  }
  return previous;
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
  const std::string lab = arguments.lab.empty() ? "" : " --lab " + reports::shell_word(arguments.lab);
  return "labrig check " + reports::shell_word(arguments.path) + lab + command.substr(general.size());
}

// The same check once, as a command whose answer is JSON.
std::vector<std::string> one_try(const Context& context, const spec::LabSpec& lab, const Arguments& arguments) {
  std::vector<std::string> command = {context.program("labrig").string(), "--quiet"};
  if (!context.labs.empty()) command.insert(command.end(), {"--labs", lab.folder.parent_path().string()});
  command.insert(command.end(), {"check", arguments.path, "--lab", lab.id, "--json"});
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {name, value});
  };
  add("--task", arguments.task != 0 ? std::to_string(arguments.task) : "");
  add("--jobs", arguments.jobs != 0 ? std::to_string(arguments.jobs) : "");
  add("--seed", arguments.seed);
  if (arguments.html) command.push_back("--html");
  add("--html-file", arguments.html_file);
  return command;
}

void run_watch(Context& context, const spec::LabSpec& lab, const Arguments& arguments) {
  if (!fs::is_directory(arguments.path))
    throw Error("no-such-folder", "--watch wants a folder, and " + arguments.path + " is none",
                "it builds the folder's files again when one of them is saved", "give the folder of your submission");
  context.exit_code = watch(context, {arguments.path, lab.files, one_try(context, lab, arguments)});
}

void run(Context& context, const Arguments& arguments) {
  const std::string id = arguments.lab.empty() ? lab_of(arguments.path) : arguments.lab;
  const spec::LabSpec lab = spec::load_lab(context.lab(id)).value();
  if (arguments.watch) return run_watch(context, lab, arguments);
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
  const nlohmann::json plain(*report), previous = replace_last(lab, arguments, plain);
  const fs::path page = arguments.html ? write_page(arguments, lab, plain, previous) : fs::path();
  print_report(context, *report);
  if (submitted.refusal && submitted.refusal->code() == "does-not-build" && !context.json && !context.quiet)
    std::printf("all of the compiler's output: %s\n", build::last_log().string().c_str());
  if (!page.empty() && !context.json && !context.quiet) std::printf("page: %s\n", page.string().c_str());
  context.exit_code = exit_code_of(*report, submitted);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("check", "Build your folder and try it on the visible scenarios");
  command->footer(
      "Nothing is handed in; the last report of a folder is kept, to say in --html what has changed since.\n"
      "Hidden scenarios run in `labrig grade` only.\n"
      "Exit codes: 0 reached the pass mark, 1 below it, 2 usage, 3 refused before any code ran,\n"
      "            4 environment unfit, 5 fault of the harness, 130 interrupted\n"
      "Example: labrig check my-solution --task 1 --watch");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("PATH", arguments->path, "Your folder (default: this one), or a built .labrig.so");
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
  command->add_flag("--watch", arguments->watch, "Try again whenever a file is saved, and say what changed")
      ->excludes(device)
      ->excludes("--debug");
  command->add_flag("--html", arguments->html, "Also write a page of this check, with what changed since the last one")
      ->excludes(device)
      ->excludes("--debug");
  command->add_option("--html-file", arguments->html_file, "Where to, with --html (default: a place that it prints)")
      ->type_name("FILE")
      ->needs("--html");
  add_json_flag(*command, context);
  command->callback([arguments, &context] { run(context, *arguments); });
}

}  // namespace labrig::app
