#include "usage.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "line.hpp"

namespace labrig::app {
namespace {

using Found = std::optional<Error>;

Error usage(std::string what, std::string why, std::string fix) {
  return {"usage", std::move(what), std::move(why), std::move(fix)};
}

std::string in_ticks(const std::string& text) { return "`" + text + "`"; }

std::string called(const CLI::App& command) { return in_ticks(words_of(command)); }

std::string see_help(const CLI::App& command) {
  return in_ticks(words_of(command) + " --help") + " shows what it takes, with an example";
}

std::string for_example(const CLI::App& command) {
  const Footer footer = footer_of(command);
  return footer.examples.empty() ? see_help(command) : "for example: " + footer.examples.front();
}

// "--lab ID", "DIR"
std::string with_value(const CLI::Option& option) {
  return option.get_positional() || !takes_value(option) ? option_name(option)
                                                         : option_name(option) + " " + value_of(option);
}

std::vector<std::string> names_below(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* below : commands_below(command)) names.push_back(below->get_name());
  return names;
}

std::vector<std::string> names_of(const std::vector<const CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option_name(*option));
  return names;
}

std::string commands_there_are(const CLI::App& command) {
  const std::vector<std::string> names = names_below(command);
  return names.size() == 1 ? "its only command is " + names.front() : "its commands are " + list_of(names);
}

Found wrong_command(const CLI::App&, const Line& line) {
  if (line.wrong_command.empty()) return {};
  const CLI::App& command = line.command();
  const std::string guess = nearest(line.wrong_command, names_below(command));
  return usage(called(command) + " has no command '" + line.wrong_command + "'", commands_there_are(command),
               guess.empty() ? in_ticks(words_of(command) + " --help") + " says what each is for"
                             : "did you mean " + in_ticks(words_of(command) + " " + guess) + "?");
}

// Which commands know the option that this one does not.
std::string where_it_is(const CLI::App& program, const std::string& option) {
  std::vector<std::string> commands;
  walk(program, [&](const CLI::App& command) {
    for (const CLI::Option* one : options_of(command))
      if (option_name(*one) == option) commands.push_back(called(command));
  });
  return commands.empty() ? "" : list_of(commands) + (commands.size() == 1 ? " has it" : " have it");
}

Found wrong_option(const CLI::App& program, const Line& line) {
  if (line.wrong_option.empty()) return {};
  const CLI::App& command = line.command();
  const std::vector<std::string> names = names_of(options_of(command));
  std::vector<std::string> known = names;  // and those that every command takes
  for (const std::string& name : names_of(options_of(program))) known.push_back(name);
  const std::string guess = nearest(line.wrong_option, known), elsewhere = where_it_is(program, line.wrong_option);
  return usage(called(command) + " has no option " + line.wrong_option, "its options are " + list_of(names),
               !guess.empty()       ? "did you mean " + guess + "?"
               : !elsewhere.empty() ? elsewhere + "; " + see_help(command)
                                    : see_help(command));
}

Found value_left_out(const CLI::App&, const Line& line) {
  if (line.open == nullptr || !line.open_needs_value) return {};
  return usage(option_name(*line.open) + " stands without its " + value_of(*line.open), line.open->get_description(),
               for_example(line.command()));
}

Found value_of_a_flag(const CLI::App&, const Line& line) {
  for (const Line::Given& one : line.given)
    if (one.has_value && !takes_value(*one.option))
      return usage(option_name(*one.option) + " takes no value, and '" + one.value + "' is given",
                   "it is there or not: " + one.option->get_description(),
                   "write " + option_name(*one.option) + " alone");
  return {};
}

Found given_twice(const CLI::App&, const Line& line) {
  for (const Line::Given& one : line.given) {
    std::vector<std::string> values;
    for (const Line::Given& other : line.given)
      if (other.option == one.option) values.push_back("'" + other.value + "'");
    if (values.size() > 1 && takes_value(*one.option) && !takes_many(*one.option))
      return usage(option_name(*one.option) + " is given more than once",
                   "it takes one value, and got " + list_of(values), "leave all but one of them out");
  }
  return {};
}

Found bad_value(const CLI::App& command, const CLI::Option& option, const std::string& value) {
  const std::string what = "'" + value + "' is no value for " + option_name(option);
  if (const std::vector<std::string> choices = choices_of(option); !choices.empty()) {
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
    return usage(what, "it takes one of " + list_of(choices), guess_or(value, choices, for_example(command)));
  }
  if (const auto limits = limits_of(option)) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (!value.empty() && *end == '\0' && number >= limits->first && number <= limits->second) return {};
    return usage(what, fmt::format("it takes a number from {} to {}", limits->first, limits->second),
                 for_example(command));
  }
  std::error_code ignored;
  if (!wants_existing_file(option) || std::filesystem::is_regular_file(value, ignored)) return {};
  return usage(what, value.empty() ? "the name is empty; a variable may not be set" : "there is no such file",
               "give the name of a file that is there");
}

Found wrong_value(const CLI::App&, const Line& line) {
  for (const Line::Given& one : line.given)
    if (takes_value(*one.option))
      if (Found error = bad_value(line.command(), *one.option, one.value)) return error;
  const std::vector<const CLI::Option*> places = arguments_of(line.command());
  for (std::size_t i = 0; i < std::min(places.size(), line.words.size()); ++i)
    if (Found error = bad_value(line.command(), *places[i], line.words[i])) return error;
  return {};
}

Found not_together(const CLI::App&, const Line& line) {
  for (const Line::Given& one : line.given)
    for (const CLI::Option* other : one.option->get_excludes())
      if (line.has(other))
        return usage(option_name(*one.option) + " and " + option_name(*other) + " do not go together",
                     option_name(*one.option) + ": " + one.option->get_description(), "leave one of the two out");
  return {};
}

Found not_alone(const CLI::App&, const Line& line) {
  for (const Line::Given& one : line.given)
    for (const CLI::Option* other : one.option->get_needs())
      if (!line.has(other))
        return usage(option_name(*one.option) + " says nothing without " + option_name(*other),
                     option_name(*other) + ": " + other->get_description(), "add " + with_value(*other));
  return {};
}

Found too_many_words(const CLI::App&, const Line& line) {
  const std::vector<const CLI::Option*> places = arguments_of(line.command());
  if (line.words.size() <= places.size() || (!places.empty() && takes_many(*places.back()))) return {};
  const std::vector<std::string> names = names_of(places);
  return usage("'" + line.words[places.size()] + "' is one word too many",
               called(line.command()) + (names.empty() ? " takes options only" : " takes " + list_of(names)) +
                   "; a name with blanks stands in quotes",
               for_example(line.command()));
}

Found something_missing(const CLI::App&, const Line& line) {
  const CLI::App& command = line.command();
  std::vector<std::string> missing, reasons;
  const auto miss = [&](const CLI::Option& option) {
    missing.push_back(with_value(option));
    reasons.push_back(option_name(option) + ": " + option.get_description());
  };
  const std::vector<const CLI::Option*> places = arguments_of(command);
  for (std::size_t i = line.words.size(); i < places.size(); ++i)
    if (places[i]->get_required()) miss(*places[i]);
  for (const CLI::Option* option : options_of(command))
    if (option->get_required() && !line.has(option)) miss(*option);
  if (missing.empty()) return {};
  return usage(called(command) + " needs " + fmt::format("{}", fmt::join(missing, " and ")),
               fmt::format("{}", fmt::join(reasons, ". ")), for_example(command));
}

Found command_missing(const CLI::App&, const Line& line) {
  const CLI::App& command = line.command();
  if (commands_below(command).empty()) return {};
  return usage(called(command) + " needs a command", commands_there_are(command), for_example(command));
}

}  // namespace

Error usage_error(const CLI::App& program, const std::vector<std::string>& words, std::string parser) {
  const Line line = read_line(program, words);
  for (const auto find : {wrong_command, wrong_option, value_left_out, value_of_a_flag, given_twice, wrong_value,
                          not_together, not_alone, too_many_words, something_missing, command_missing})
    if (Found error = find(program, line)) return *error;
  while (parser.ends_with('\n')) parser.pop_back();
  return usage("this command line cannot be read: " + parser, called(line.command()) + " takes other words or options",
               see_help(line.command()));
}

}  // namespace labrig::app
