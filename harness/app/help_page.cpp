#include <CLI/CLI.hpp>

#include "help_page.hpp"

#include <fmt/format.h>

#include "command_tree.hpp"

namespace labrig::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTextColumn = 30, kColumns = 100;

// "  left                        text, and its next line below it". Characters are counted, not bytes.
std::string row(const std::string& left, const std::string& text) {
  std::string out = "  " + left, line;
  const auto flush = [&] {
    const std::size_t at =
        out.size() - (out.rfind('\n') + 1);  // also right where there is no line break: npos + 1 is 0
    out += (at < kTextColumn ? std::string(kTextColumn - at, ' ') : "\n" + std::string(kTextColumn, ' ')) + line + "\n";
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (!line.empty() && kTextColumn + line.size() + 1 + (end - at) > kColumns) flush();
    line += (line.empty() ? "" : " ") + text.substr(at, end - at);
    at = end + 1;
  }
  flush();
  return out;
}

std::string left_of(const CLI::Option& option) {
  std::string left;
  for (const std::string& name : option.get_snames()) left += "-" + name + ", ";
  left += option_name(option);
  if (!option.get_positional() && takes_value(option)) left += " " + value_of(option);
  return left;
}

std::string options_part(const std::string& title, const std::vector<const CLI::Option*>& options) {
  if (options.empty()) return "";
  std::string out = "\n" + title + ":\n";
  for (const CLI::Option* option : options) out += row(left_of(*option), text_of(*option));
  return out;
}

// 3, not 3.0
Json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

Json option_json(const CLI::Option& option) {
  Json answer = {{"name", option_name(option)}, {"about", option.get_description()}};
  if (!option.get_positional()) answer["value"] = takes_value(option) ? Json(value_of(option)) : Json(nullptr);
  answer["required"] = option.get_required();
  answer["repeats"] = takes_many(option);
  if (!option.get_default_str().empty()) answer["default"] = option.get_default_str();
  if (const auto choices = choices_of(option); !choices.empty()) answer["choices"] = choices;
  if (const auto limits = limits_of(option))
    answer["from"] = number(limits->first), answer["to"] = number(limits->second);
  if (const auto needs = sorted_names(option.get_needs()); !needs.empty()) answer["needs"] = needs;
  if (const auto others = sorted_names(option.get_excludes()); !others.empty()) answer["excludes"] = others;
  return answer;
}

Json options_json(const std::vector<const CLI::Option*>& options) {
  Json all = Json::array();
  for (const CLI::Option* option : options) all.push_back(option_json(*option));
  return all;
}

}  // namespace

std::string usage_of(const CLI::App& command) {
  std::string usage = words_of(command) + " [OPTIONS]";
  for (const CLI::Option* place : arguments_of(command)) {
    const std::string name = option_name(*place) + (takes_many(*place) ? "..." : "");
    usage += " " + (place->get_required() ? name : "[" + name + "]");
  }
  return commands_below(command).empty() ? usage : usage + " COMMAND";
}

std::string HelpPage::make_help(const CLI::App* command, std::string, CLI::AppFormatMode) const {
  std::string page = sentence(command->get_description()) + "\nUsage: " + usage_of(*command) + "\n";
  page += options_part("Arguments", arguments_of(*command)) + options_part("Options", options_of(*command));
  if (const auto below = commands_below(*command); !below.empty()) {
    page += "\nCommands:\n";
    for (const CLI::App* one : below) page += row(one->get_name(), one->get_description());
  }
  return command->get_footer().empty() ? page : page + "\n" + command->get_footer() + "\n";
}

nlohmann::ordered_json help_json(const CLI::App& command) {
  const Footer footer = footer_of(command);
  Json exits = Json::array(), commands = Json::array();
  for (const auto& [code, meaning] : footer.exits) exits.push_back({{"code", code}, {"meaning", meaning}});
  for (const CLI::App* below : commands_below(command)) commands.push_back(help_json(*below));
  return {{"command", words_of(command)},
          {"about", command.get_description()},
          {"usage", usage_of(command)},
          {"notes", footer.notes},
          {"arguments", options_json(arguments_of(command))},
          {"options", options_json(options_of(command))},
          {"exit_codes", exits},
          {"examples", footer.examples},
          {"commands", commands}};
}

}  // namespace labrig::app
