// The parser's commands and options as data, for all that describes them: help, the manual page, completions and
// errors. What is hidden (an empty group) is in none of them. Read next: line.hpp (a command line read by this tree).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace labrig::app {

// The commands right below one, in the order in which they were added.
std::vector<const CLI::App*> commands_below(const CLI::App& command);
// Every command at every depth, a parent before its children.
void walk(const CLI::App& program, const std::function<void(const CLI::App&)>& visit);
// "labrig plugin doctor"
std::string words_of(const CLI::App& command);

// The options with a name, --help among them, and the words by their place.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

// "--lab", or "DIR" for a word by its place.
std::string option_name(const CLI::Option& option);
// What stands for its value in texts: "ID". An option's own word, or the name of the place; empty for a flag.
std::string value_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);
bool takes_many(const CLI::Option& option);
// The values that its validator allows: names, or a number from … to …; nothing where any will do.
std::vector<std::string> choices_of(const CLI::Option& option);
std::optional<std::pair<double, double>> limits_of(const CLI::Option& option);
bool wants_existing_file(const CLI::Option& option);
// Its description, and in brackets what else is to be known: "(required; not with --debug)".
std::string text_of(const CLI::Option& option);
std::vector<std::string> sorted_names(const std::set<CLI::Option*>& options);

// A command's footer taken apart. Lines that begin with "Exit codes:" ("0 done, 2 usage") and with "Example:" (one
// command a line) begin a part, which goes on to the next; what stands before them are notes.
struct Footer {
  std::string notes;
  std::vector<std::pair<int, std::string>> exits;
  std::vector<std::string> examples;
};
Footer footer_of(const CLI::App& command);

// "a, b, c"
std::string list_of(const std::vector<std::string>& words);
// With a full stop where it has no end yet.
std::string sentence(const std::string& text);

}  // namespace labrig::app
