// labrig completions SHELL: a script that completes this command line in a shell; labrig complete -- WORD...: what that
// script asks. labrig man: the page for man(1).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "completion_scripts.hpp"
#include "console.hpp"
#include "labrig/build_tag.hpp"
#include "manual.hpp"
#include "next_words.hpp"

namespace labrig::app {
namespace {

using Json = nlohmann::ordered_json;

void answer(const Context& context, const char* name, std::string_view text) {
  if (context.json)
    print_answer({{name, text}});
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
}

// One line each: nothing that a lab is called may begin another.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

const char* name_of(NextWords::Files files) {
  return files == NextWords::Files::any ? "files" : files == NextWords::Files::folders ? "folders" : "";
}

void complete(const CLI::App& program, const Context& context, const std::vector<std::string>& words) {
  const NextWords next = next_words(program, context, words);
  if (context.json) {
    Json all = Json::array();
    for (const auto& [text, about] : next.words) all.push_back({{"word", text}, {"about", about}});
    print_answer({{"words", all}, {"files", name_of(next.files)}});
    return;
  }
  for (const auto& [text, about] : next.words)
    std::printf("%s%s%s\n", on_one_line(text).c_str(), about.empty() ? "" : "\t", on_one_line(about).c_str());
  if (next.files != NextWords::Files::none) std::printf(":%s\n", name_of(next.files));
}

}  // namespace

void add_completions(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("completions", "Completion of this command line for a shell");
  command->footer(
      "Exit codes: 0 done, 2 usage\n"
      "Example: labrig completions bash > ~/.local/share/bash-completion/completions/labrig\n"
      "         labrig completions zsh > ~/.zfunc/_labrig\n"
      "         labrig completions fish > ~/.config/fish/completions/labrig.fish");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  add_json_flag(*command, context);
  command->callback([shell, &context] {
    answer(context, "script",
           *shell == "bash"  ? bash_completion()
           : *shell == "zsh" ? zsh_completion()
                             : fish_completion());
  });
}

// Hidden: the scripts call it.
void add_complete(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("complete", "What may follow the words of a begun command line")->group("");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("WORD", *words, "The words behind `labrig`, the last one begun; behind --");
  add_json_flag(*command, context);
  command->callback([words, &app, &context] { complete(app, context, *words); });
}

void add_man(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("man", "The manual page of labrig");
  command->footer("Exit codes: 0 done, 2 usage\nExample: labrig man | man -l -");
  add_json_flag(*command, context);
  command->callback([&app, &context] { answer(context, "page", manual_page(app, LABRIG_VERSION)); });
}

}  // namespace labrig::app
