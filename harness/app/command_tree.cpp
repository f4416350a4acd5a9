#include "command_tree.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <regex>
#include <sstream>

namespace labrig::app {
namespace {

std::vector<const CLI::Option*> shown(const CLI::App& command, bool by_place) {
  return command.get_options([by_place](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional() == by_place;
  });
}

// What the parser says of an option's values: "N:INT in [1 - 9]", "CARD:{cuda,sim}".
std::string rule_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  return colon == std::string::npos ? "" : type.substr(colon + 1);
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

// "0 done, 2 usage"
std::vector<std::pair<int, std::string>> exits_in(const std::string& text) {
  static const std::regex code(R"((?:^|, )(\d+) )");
  std::vector<std::pair<int, std::string>> exits;
  for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end;) {
    const std::smatch match = *at++;
    const std::size_t from = static_cast<std::size_t>(match.position() + match.length());
    const std::size_t to = at == end ? text.size() : static_cast<std::size_t>(at->position());
    exits.emplace_back(std::stoi(match[1]), text.substr(from, to - from));
  }
  return exits;
}

}  // namespace

std::vector<const CLI::App*> commands_below(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

void walk(const CLI::App& program, const std::function<void(const CLI::App&)>& visit) {
  for (const CLI::App* command : commands_below(program)) {
    visit(*command);
    walk(*command, visit);
  }
}

std::string words_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : words_of(*parent) + " " + command.get_name();
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) { return shown(command, false); }
std::vector<const CLI::Option*> arguments_of(const CLI::App& command) { return shown(command, true); }

std::string option_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(/*positional=*/true, /*all_options=*/false);
  return option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front();
}

std::string value_of(const CLI::Option& option) {
  if (option.get_positional()) return option_name(option);
  if (!takes_value(option)) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }
bool takes_many(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string rule = rule_of(option);
  const std::size_t open = rule.find('{'), close = rule.find('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::istringstream list(rule.substr(open + 1, close - open - 1));
  for (std::string one; std::getline(list, one, ',');) choices.push_back(one);
  return choices;
}

std::optional<std::pair<double, double>> limits_of(const CLI::Option& option) {
  const std::string rule = rule_of(option);
  const std::size_t at = rule.find(" in [");
  double low = 0, high = 0;
  if (at == std::string::npos || std::sscanf(rule.c_str() + at, " in [%lf - %lf]", &low, &high) != 2) return {};
  return std::pair(low, high);
}

bool wants_existing_file(const CLI::Option& option) { return rule_of(option) == "FILE"; }

std::vector<std::string> sorted_names(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option_name(*option));
  std::sort(names.begin(), names.end());  // the set's order is that of addresses
  return names;
}

std::string text_of(const CLI::Option& option) {
  std::vector<std::string> more;
  if (option.get_required() && !option.get_positional()) more.push_back("required");
  if (!option.get_default_str().empty()) more.push_back("default: " + option.get_default_str());
  if (const auto needs = sorted_names(option.get_needs()); !needs.empty()) more.push_back("needs " + list_of(needs));
  if (const auto others = sorted_names(option.get_excludes()); !others.empty())
    more.push_back("not with " + list_of(others));
  return option.get_description() + (more.empty() ? "" : " (" + fmt::format("{}", fmt::join(more, "; ")) + ")");
}

Footer footer_of(const CLI::App& command) {
  const std::string exit_mark = "Exit codes: ", example_mark = "Example: ";
  Footer footer;
  std::string exits;
  enum { notes, codes, examples } part = notes;
  std::istringstream lines(command.get_footer());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(exit_mark)) part = codes, line.erase(0, exit_mark.size());
    if (line.starts_with(example_mark)) part = examples, line.erase(0, example_mark.size());
    if (part == notes) footer.notes += line + "\n";
    if (part == codes) exits += (exits.empty() ? "" : " ") + trimmed(line);
    if (part == examples) footer.examples.push_back(trimmed(line));
  }
  footer.notes = trimmed(footer.notes);
  footer.exits = exits_in(exits);
  return footer;
}

std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string sentence(const std::string& text) {
  return text.empty() || text.find_last_of(".?!") == text.size() - 1 ? text : text + ".";
}

}  // namespace labrig::app
