// What may follow a begun command line: the one place that completions of every shell ask. The shells' scripts
// (completion_scripts.hpp) hand over the words and show the answer.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"

namespace labrig::app {

struct NextWords {
  struct Word {
    std::string text, about;
  };
  enum class Files { none, any, folders };  // what the shell itself completes here, unless there are words
  std::vector<Word> words;
  Files files = Files::none;
};

// `words`: the line without the program's name, as the shell would pass it; the last one is begun, and may be empty.
NextWords next_words(const CLI::App& program, const Context& context, const std::vector<std::string>& words);

}  // namespace labrig::app
