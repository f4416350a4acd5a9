// What `--help` shows: a page for people, or one JSON object for programs. Read next: manual.hpp (man's page).
#pragma once

#include <CLI/FormatterFwd.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace labrig::app {

// One line an option and a command; long texts go on in their column.
class HelpPage : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const override;
};

// {command, about, usage, notes, arguments, options, exit_codes, examples, commands}; `commands` holds one such object
// for each command below, so that of the program is the whole command line.
nlohmann::ordered_json help_json(const CLI::App& command);

// "labrig check [OPTIONS] [DIR]"
std::string usage_of(const CLI::App& command);

}  // namespace labrig::app
