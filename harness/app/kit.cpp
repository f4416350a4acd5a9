// labrig kit student|gradescope: what a course hands out and what it uploads, each complete by itself.
#include <CLI/CLI.hpp>
#include <memory>

#include "kit_parts.hpp"
#include "labrig/error.hpp"

namespace labrig::app {

namespace {

// Runs what makes a kit. An empty name, of a variable that is not set, is no place; Ctrl-C is no mistake of the
// command.
void make(Context& context, const KitArguments& arguments, void (*kit)(Context&, const KitArguments&)) {
  if (arguments.out.empty())
    throw Error("no-such-folder", "--out has no name", "the name is empty; a variable may not be set",
                "say where the kit goes, as in --out course-kit");
  try {
    kit(context, arguments);
  } catch (const Error& error) {
    if (error.code() != "interrupted") throw;
    context.exit_code = kInterrupted;
  }
}

void add_labs_option(CLI::App& command, KitArguments& arguments) {
  command.add_option("--lab", arguments.labs, "A lab's id; may be given several times (default: all labs)")
      ->type_name("ID");
}

void add_student(CLI::App& kit, Context& context) {
  CLI::App* command = kit.add_subcommand("student", "A folder for students: labs, starters, handouts, the program");
  command->footer(
      "Solutions, flawed variants and hidden scenarios are left out.\n"
      "Exit codes: 0 done, 2 usage, 4 environment unfit, 130 interrupted\nExample: labrig kit student --out "
      "course-kit");
  auto arguments = std::make_shared<KitArguments>();
  command->add_option("--out", arguments->out, "The folder to make")->required()->type_name("DIR");
  add_labs_option(*command, *arguments);
  add_json_flag(*command, context);
  command->callback([arguments, &context] { make(context, *arguments, make_student_kit); });
}

void add_gradescope(CLI::App& kit, Context& context) {
  CLI::App* command = kit.add_subcommand("gradescope", "A zip to upload as Gradescope's autograder");
  command->footer(
      "Keep a zip that was made with a secret to yourself: the secret is in it.\n"
      "Exit codes: 0 done, 2 usage, 4 environment unfit, 130 interrupted\n"
      "Example: labrig kit gradescope --lab transfer-cost --secret-file course.secret --out autograder.zip");
  auto arguments = std::make_shared<KitArguments>();
  command->add_option("--out", arguments->out, "The file to write; it is replaced")->required()->type_name("F.zip");
  add_labs_option(*command, *arguments);
  command
      ->add_option("--secret-file", arguments->secret_file,
                   "File with the course's secret, from which hidden sizes and data are drawn")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--minutes", arguments->minutes,
                   "When to stop and keep what is known, a minute before Gradescope's own limit (default: 9)")
      ->type_name("N")
      ->check(CLI::Range(1, 39));
  add_json_flag(*command, context);
  command->callback([arguments, &context] { make(context, *arguments, make_gradescope_kit); });
}

// Hidden: run_autograder calls it.
void add_autograde(CLI::App& kit, Context& context) {
  CLI::App* command = kit.add_subcommand("autograde", "Grade an autograder's submission folder")->group("");
  struct Arguments {
    std::string root, secret_file;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--root", arguments->root, "Folder with submission and results")->required();
  command->add_option("--secret-file", arguments->secret_file, "File with the course's secret")
      ->check(CLI::ExistingFile);
  command->callback([arguments, &context] { autograde(context, arguments->root, arguments->secret_file); });
}

}  // namespace

void add_kit(CLI::App& app, Context& context) {
  CLI::App* kit = app.add_subcommand("kit", "Make what a course hands out or uploads");
  kit->require_subcommand(1);
  kit->footer("docs/ci.md walks through both.\nExample: labrig kit student --out course-kit");
  add_student(*kit, context);
  add_gradescope(*kit, context);
  add_autograde(*kit, context);
}

}  // namespace labrig::app
