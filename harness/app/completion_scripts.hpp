// The scripts that make a shell complete labrig's command line. They know nothing of it: each hands the begun line to
// `labrig complete -- WORD...` (next_words.hpp), which answers a line for each candidate, `word<TAB>what it is`, or
// `:files` or `:folders` for what the shell completes by itself.
#pragma once

#include <string_view>

namespace labrig::app {

std::string_view bash_completion();
std::string_view zsh_completion();
std::string_view fish_completion();

}  // namespace labrig::app
