// labrig completions SHELL and labrig man: the command line for shells and for man(1).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "labrig/build_tag.hpp"
#include "labrig/error.hpp"
#include "shell_help.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::app {
namespace {

struct Choice {
  std::string shell;
  bool labs = false, checks = false;
};

std::string ids(const Context& context, bool of_checks) {
  std::string out;
  for (const std::filesystem::path& folder : lab_folders(context)) {
    const Result<spec::LabSpec> lab = spec::load_lab(folder);
    if (!lab) continue;  // a broken lab is another command's business
    if (!of_checks) out += lab.value().id + "\n";
    if (of_checks)
      for (const spec::CheckSpec& check : lab.value().checks) out += check.id + "\n";
  }
  return out;
}

void answer(const Context& context, const char* name, const std::string& text) {
  if (context.json)
    std::printf("%s\n", nlohmann::json{{name, text}}.dump().c_str());
  else
    std::fputs(text.c_str(), stdout);
}

void run_completions(const CLI::App& program, const Context& context, const Choice& choice) {
  if (choice.labs || choice.checks) return answer(context, "ids", ids(context, choice.checks));
  if (choice.shell.empty())
    throw Error("usage", "no shell is named", "each has a language of its own",
                "say which: labrig completions bash, zsh or fish");
  answer(context, "script",
         choice.shell == "bash"  ? bash_completion(program)
         : choice.shell == "zsh" ? zsh_completion(program)
                                 : fish_completion(program));
}

}  // namespace

void add_completions(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("completions", "Completion of this command line for a shell");
  command->footer("Example: labrig completions bash > ~/.local/share/bash-completion/completions/labrig");
  auto choice = std::make_shared<Choice>();
  command->add_option("SHELL", choice->shell, "bash, zsh or fish")->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->add_flag("--lab-ids", choice->labs, "The ids of the labs, for the scripts");
  command->add_flag("--check-ids", choice->checks, "The ids of their checks, for the scripts");
  add_json_flag(*command, context);
  command->callback([choice, &app, &context] { run_completions(app, context, *choice); });
}

void add_man(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("man", "The manual page of labrig");
  command->footer("Example: labrig man | man -l -");
  add_json_flag(*command, context);
  command->callback([&app, &context] { answer(context, "page", manual_page(app, LABRIG_VERSION)); });
}

}  // namespace labrig::app
