// A command line that cannot be read, as an error of labrig's: which word is wrong, what there is instead, what to
// type.
#pragma once

#include <string>
#include <vector>

#include "labrig/error.hpp"

namespace CLI {
class App;
}

namespace labrig::app {

// `words`: the line without the program's name. `parser`: what the parser says of it, for what this does not know.
Error usage_error(const CLI::App& program, const std::vector<std::string>& words, std::string parser);

}  // namespace labrig::app
