// A text as people paste it: wrapped, coloured, with the marks of a log in front of each line, under a traceback. This
// part takes off what does not belong to the message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace labrig::explain {

struct Pasted {
  std::string text;     // all of it, without colours and marks of logs
  std::string message;  // from the last line on that begins with the name of an error; empty when there is none
};

Pasted read_pasted(std::string_view text);

// Letters and digits alone, in lower case: what is left is the same however a text was wrapped, quoted or escaped.
std::string squeezed(std::string_view text);

// Runs of letters and digits, in lower case; "don't" is one word.
std::vector<std::string> words_of(std::string_view text);

}  // namespace labrig::explain
