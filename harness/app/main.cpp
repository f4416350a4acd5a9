// labrig: the program that students and instructors call. This file finds where labrig lies, reads the command line and
// turns errors into exit codes; each sub-command is a file of its own beside it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "commands.hpp"
#include "labrig/error.hpp"
#include "labrig/plugin.hpp"
#include "paths.hpp"
#include "shell_help.hpp"

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
  app::add_man(program, context);
}

// The parser's one line as an error of labrig's: what, why, fix.
Error usage_error(const CLI::App& program, const CLI::ParseError& error, const std::string& word) {
  std::string command = "labrig";
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  if (program.get_subcommands().empty() && !word.empty()) {
    const std::string nearest = app::nearest_command(program, word);
    return {"usage", "labrig has no command '" + word + "'",
            nearest.empty() ? "`labrig --help` lists its commands" : "did you mean `labrig " + nearest + "`?",
            "`labrig --help` shows what it takes, with an example"};
  }
  std::string what = error.what();
  while (what.ends_with('\n')) what.pop_back();
  return {"usage", "this command line cannot be read: " + what, "`" + command + "` takes other words or options",
          "`" + command + " --help` shows what it takes, with an example"};
}

// The first word that is no option: what stands where a command should.
std::string first_word(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--labs")
      ++i;
    else if (argv[i][0] != '-')
      return argv[i];
  }
  return {};
}

constexpr const char* kStart =
    "labrig runs and grades GPU programming labs; no GPU is needed.\n\n"
    "  labrig labs                      which labs there are\n"
    "  labrig new LAB DIR               a folder to start from\n"
    "  labrig check DIR --watch         tries it again after each save\n"
    "  labrig grade DIR --lab LAB       every case, with a report\n"
    "  labrig explain \"TEXT\"            what a message or a symptom means\n\n"
    "labrig --help lists all commands; labrig COMMAND --help shows one with an example.\n";

// The flag itself may stand behind the place where parsing stopped.
bool asks_for_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

int run(int argc, char** argv) {
  if (argc == 1) {
    std::fputs(kStart, stderr);
    return app::kUsage;
  }
  app::Context context = app::make_context();
  CLI::App program{"labrig runs and grades GPU programming labs."};
  program.name("labrig");
  program.set_version_flag("--version", version_text());
  program.require_subcommand(1);
  program.fallthrough();  // --labs and --quiet also after the sub-command
  program.footer(
      "Exit codes: 0 reached the pass mark, 1 graded below it, 2 usage, 3 refused before any code ran,\n"
      "            4 environment unfit, 5 fault of the harness, 130 interrupted\n"
      "Example: labrig new transfer-cost my-solution && labrig check my-solution");
  std::string labs_folder;
  program
      .add_option("--labs", labs_folder, "Folder that holds labs; searched before LABRIG_LABS and the built-in ones")
      ->type_name("DIR");
  program.add_flag("--quiet", context.quiet, "Nothing on the console but errors, and JSON where it is asked for");
  // Before any sub-command's callback: the labs must be known there.
  program.parse_complete_callback([&] {
    app::find_labs(context, labs_folder);
    // Whatever a command has to say: with --quiet only errors and JSON are heard.
    if (context.quiet && !asks_for_json(argc, argv) && std::freopen("/dev/null", "w", stdout) == nullptr) std::abort();
  });
  add_commands(program, context);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    context.json = context.json || asks_for_json(argc, argv);
    app::print_error(context, usage_error(program, error, first_word(argc, argv)));
    return app::kUsage;
  } catch (const Error& error) {
    if (error.code() == "interrupted") return app::kInterrupted;
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
    std::fprintf(stderr,
                 "error: labrig itself failed: %s\n  why: this is a fault of labrig, not of your code\n"
                 "  fix: run `labrig doctor` and pass its output and this message on\n",
                 error.what());
    return app::kFault;
  }
}
