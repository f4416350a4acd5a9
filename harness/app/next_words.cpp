#include "next_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "backends/sim/profile.hpp"
#include "conform/kinds.hpp"
#include "formats.hpp"
#include "labrig/error.hpp"
#include "line.hpp"
#include "paths.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::app {
namespace {

using Place = NextWords::Files;
using Words = std::vector<NextWords::Word>;

std::string value_given(const Line& line, const std::string& name) {
  for (const Line::Given& one : line.given)
    if (option_name(*one.option) == name) return one.value;
  return {};
}

// The labs of this line: --labs counts in it too. One that cannot be read is another command's matter.
std::vector<spec::LabSpec> labs_of(const Context& context, const Line& line) {
  Context here;
  here.programs = context.programs;
  here.root = context.root;
  try {
    find_labs(here, value_given(line, "--labs"));
  } catch (const Error&) {
    return {};
  }
  std::vector<spec::LabSpec> labs;
  for (const std::filesystem::path& folder : lab_folders(here))
    if (Result<spec::LabSpec> lab = spec::load_lab(folder)) labs.push_back(std::move(lab).value());
  return labs;
}

Words lab_ids(const Context& context, const Line& line) {
  Words words;
  for (const spec::LabSpec& lab : labs_of(context, line)) words.push_back({lab.id, lab.title});
  return words;
}

Words check_ids(const Context& context, const Line& line) {
  Words words;
  const std::string only = value_given(line, "--lab");
  for (const spec::LabSpec& lab : labs_of(context, line))
    if (only.empty() || only == lab.id)
      for (const spec::CheckSpec& check : lab.checks) words.push_back({check.id, lab.id});
  return words;
}

// A list with commas goes on with what it does not hold yet.
Words format_lists(const std::string& begun) {
  const std::size_t comma = begun.rfind(',');
  const std::string before = comma == std::string::npos ? "" : begun.substr(0, comma + 1);
  Words words;
  for (const std::string& name : reports::format_names())
    if (("," + before).find("," + name + ",") == std::string::npos) words.push_back({before + name, ""});
  return words;
}

Words profiles() {
  Words words;
  for (const std::string& name : sim::profile_names()) words.push_back({name, ""});
  return words;
}

Words recordings() {
  Words words;
  for (const conform::Kind& kind : conform::kinds()) words.push_back({std::string(kind.name), std::string(kind.about)});
  return words;
}

// By what stands for the value in texts: the same word means the same everywhere.
NextWords values_of(const CLI::Option& option, const Context& context, const Line& line, const std::string& begun) {
  const std::string value = value_of(option);
  if (const auto choices = choices_of(option); !choices.empty()) {
    NextWords next;
    for (const std::string& choice : choices) next.words.push_back({choice, ""});
    return next;
  }
  if (value == "DIR") return {{}, Place::folders};
  if (value == "FILE" || value == "PATH" || value == "F.zip") return {{}, Place::any};
  if (value == "ID" || value == "LAB") return {lab_ids(context, line), Place::none};
  if (value == "CHECK") return {check_ids(context, line), Place::none};
  if (value == "LIST") return {format_lists(begun), Place::none};
  if (value == "PROFILE") return {profiles(), Place::any};
  if (value == "KIND") return {recordings(), Place::none};
  if (value == "DEVICE") return {{{"sim", ""}, {"cuda:0", ""}, {"cpu", ""}}, Place::none};
  return {};  // a number or a text of one's own
}

// Those of the command and of the ones above it, without what is there already or does not go with it.
Words options_left(const Line& line) {
  Words words;
  for (auto command = line.path.rbegin(); command != line.path.rend(); ++command)
    for (const CLI::Option* option : options_of(**command)) {
      const std::string name = option_name(*option);
      const bool listed = std::ranges::any_of(words, [&](const auto& word) { return word.text == name; });
      const bool excluded = std::ranges::any_of(option->get_excludes(), [&](const auto* one) { return line.has(one); });
      if (!listed && !excluded && (takes_many(*option) || !line.has(option)))
        words.push_back({name, option->get_description()});
    }
  return words;
}

Words commands_here(const Line& line) {
  Words words;
  for (const CLI::App* command : commands_below(line.command()))
    words.push_back({command->get_name(), command->get_description()});
  return words;
}

// --lab=am
NextWords after_equals(const Line& line, const Context& context, const std::string& begun) {
  const std::size_t equals = begun.find('=');
  const CLI::Option* option = find_option(line.path, begun.substr(0, equals));
  if (option == nullptr || !takes_value(*option)) return {};
  NextWords next = values_of(*option, context, line, begun.substr(equals + 1));
  for (NextWords::Word& word : next.words) word.text.insert(0, begun.substr(0, equals + 1));
  return next;
}

NextWords all_next_words(const Line& line, const Context& context, const std::string& begun) {
  const bool may_be_option = !line.only_words && begun.starts_with('-');
  if (!line.wrong_command.empty()) return {};
  if (line.open != nullptr && (line.open_needs_value || !may_be_option))
    return values_of(*line.open, context, line, begun);
  if (may_be_option && begun.starts_with("--") && begun.find('=') != std::string::npos)
    return after_equals(line, context, begun);
  if (may_be_option) return {options_left(line), Place::none};
  if (!commands_below(line.command()).empty()) return {commands_here(line), Place::none};
  const std::vector<const CLI::Option*> places = arguments_of(line.command());
  if (line.words.size() < places.size()) return values_of(*places[line.words.size()], context, line, begun);
  if (!places.empty() && takes_many(*places.back())) return values_of(*places.back(), context, line, begun);
  return line.only_words ? NextWords{} : NextWords{options_left(line), Place::none};
}

}  // namespace

NextWords next_words(const CLI::App& program, const Context& context, const std::vector<std::string>& words) {
  const std::string begun = words.empty() ? "" : words.back();
  const Line line = read_line(program, {words.begin(), words.empty() ? words.end() : words.end() - 1});
  NextWords next = all_next_words(line, context, begun);
  std::erase_if(next.words, [&](const NextWords::Word& word) { return !word.text.starts_with(begun); });
  if (!next.words.empty()) next.files = Place::none;
  return next;
}

}  // namespace labrig::app
