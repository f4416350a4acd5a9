// The command line, described by itself: completions for shells and the manual page are made from the parser, so that
// they know every option that it knows.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace labrig::app {

std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);
std::string manual_page(const CLI::App& program, const std::string& version);

// The sub-command that was most likely meant by a word that is none; empty when none is near.
std::string nearest_command(const CLI::App& program, const std::string& word);

}  // namespace labrig::app
