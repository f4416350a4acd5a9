// A command line, finished or begun, read by the tree of commands: what completions go on from and what errors are told
// by. Reads on where the parser gives up, and says at which word that was.
#pragma once

#include <string>
#include <vector>

#include "command_tree.hpp"

namespace labrig::app {

struct Line {
  struct Given {
    const CLI::Option* option = nullptr;
    std::string value;       // of a flag: empty
    bool has_value = false;  // of a flag too: --json=yes
  };
  std::vector<const CLI::App*> path;  // the program, and the commands that were named; never empty
  std::vector<Given> given;
  std::vector<std::string> words;     // neither commands nor options, nor values of options
  const CLI::Option* open = nullptr;  // takes the next word: always, or when it has one already and takes many
  bool open_needs_value = false;
  bool only_words = false;                  // behind --
  std::string wrong_command, wrong_option;  // the first word that is none; empty: all are known

  const CLI::App& command() const { return *path.back(); }
  bool has(const CLI::Option* option) const;
};

// Without the program's own name.
Line read_line(const CLI::App& program, const std::vector<std::string>& words);

// "--lab" or "-h" as an option of the command or of one above it; null when there is none.
const CLI::Option* find_option(const std::vector<const CLI::App*>& path, const std::string& word);

// The candidate that was most likely meant by a word that is none; empty when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);
// The fix of an error about such a word: "did you mean 'amp'?", else the other text.
std::string guess_or(const std::string& word, const std::vector<std::string>& candidates, const std::string& other);

}  // namespace labrig::app
