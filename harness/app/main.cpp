// labrig: the program that students and instructors call. This file finds where labrig lies, reads the command line and
// turns errors into exit codes; each sub-command is a file of its own beside it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "help_page.hpp"
#include "labrig/error.hpp"
#include "labrig/plugin.hpp"
#include "paths.hpp"
#include "usage.hpp"

using namespace labrig;

namespace {

std::string version_text() {
  return std::string("labrig ") + LABRIG_VERSION + "\nbuild tag: " + std::string(plugin::kBuildTag) +
         "\ncompiler:  " + std::string(plugin::kCompiler);
}

// In the order in which `labrig --help` lists them.
void add_commands(CLI::App& program, app::Context& context) {
  app::add_labs(program, context);
  app::add_new(program, context);
  app::add_check(program, context);
  app::add_hint(program, context);
  app::add_grade(program, context);
  app::add_plugin_doctor(program, context);
  app::add_doctor(program, context);
  app::add_plan(program, context);
  app::add_explain(program, context);
  app::add_bench(program, context);
  app::add_report(program, context);
  app::add_ci(program, context);
  app::add_kit(program, context);
  app::add_triage(program, context);
  app::add_conform(program, context);
  app::add_completions(program, context);
  app::add_complete(program, context);
  app::add_man(program, context);
}

constexpr const char* kStart =
    "labrig runs and grades GPU programming labs; no GPU is needed.\n\n"
    "  labrig labs                      which labs there are\n"
    "  labrig new LAB DIR               a folder to start from\n"
    "  labrig check DIR --watch         tries it again after each save\n"
    "  labrig grade DIR --lab LAB       every case, with a report\n"
    "  labrig explain \"TEXT\"            what a message or a symptom means\n\n"
    "labrig --help lists all commands; labrig COMMAND --help shows one with an example.\n";

// Wherever it stands: also behind the place where parsing stopped, but not among the words behind --.
bool asks_for_json(const std::vector<std::string>& words) {
  return std::find(words.begin(), std::find(words.begin(), words.end(), "--"), "--json") !=
         std::find(words.begin(), words.end(), "--");
}

// --help and --version, which end the parsing.
int answer_question(const CLI::App& program, const CLI::ParseError& question, bool json) {
  if (!json) return program.exit(question);
  if (dynamic_cast<const CLI::CallForHelp*>(&question) == nullptr) {
    const nlohmann::ordered_json version = {
        {"labrig", LABRIG_VERSION}, {"build_tag", plugin::kBuildTag}, {"compiler", plugin::kCompiler}};
    app::print_answer(version);
    return app::kPassed;
  }
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  app::print_answer(app::help_json(*command));
  return app::kPassed;
}

// What a command starts from: the options that stand before or behind any of them.
void set_up(CLI::App& program, app::Context& context, std::string& labs_folder) {
  program.name("labrig");
  program.formatter(std::make_shared<app::HelpPage>());
  program.set_help_flag("-h,--help", "Show this page; with --json as an object, for programs");
  program.set_version_flag("--version", version_text(), "Show the version and how labrig was built");
  program.require_subcommand(1);
  program.fallthrough();  // --labs and --quiet also after the sub-command
  program
      .add_option("--labs", labs_folder, "Folder that holds labs; searched before LABRIG_LABS and the built-in ones")
      ->type_name("DIR");
  program.add_flag("--quiet", context.quiet, "Nothing on the console but errors, and JSON where it is asked for");
  app::add_json_flag(program, context);
  add_commands(program, context);
  program.footer(
      "labrig COMMAND --help shows one command, with an example.\n"
      "Exit codes: 0 reached the pass mark, 1 graded below it, 2 usage, 3 refused before any code ran,\n"
      "            4 environment unfit, 5 fault of the harness, 130 interrupted\n"
      "Example: labrig new transfer-cost my-solution && labrig check my-solution");
}

int run(int argc, char** argv) {
  if (argc == 1) {
    std::fputs(kStart, stderr);
    return app::kUsage;
  }
  app::Context context = app::make_context();
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool json = asks_for_json(words);
  CLI::App program{"labrig runs and grades GPU programming labs."};
  std::string labs_folder;
  set_up(program, context, labs_folder);
  // Before any sub-command's callback: the labs must be known there.
  program.parse_complete_callback([&] {
    // Tab goes on with what can be known where a folder of labs is not there; what needs labs looks for itself.
    if (!program.got_subcommand("complete")) app::find_labs(context, labs_folder);
    // Whatever a command has to say: with --quiet only errors and JSON are heard.
    if (context.quiet && !json && std::freopen("/dev/null", "w", stdout) == nullptr) std::abort();
  });
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return answer_question(program, error, json);
    context.json = json;
    app::print_error(context, app::usage_error(program, words, error.what()));
    return app::kUsage;
  } catch (const Error& error) {
    if (error.code() == "interrupted") return app::kInterrupted;
    context.json = json;
    app::print_error(context, error);
    return app::is_of_the_machine(error) ? app::kUnfit : app::kUsage;
  }
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    app::Context context;
    context.json = asks_for_json({argv + 1, argv + argc});
    app::print_error(context, {"fault", std::string("labrig itself failed: ") + error.what(),
                               "this is a fault of labrig, not of your code",
                               "run `labrig doctor` and pass its output and this message on"});
    return app::kFault;
  }
}
