// The manual page, made from the parser's own words.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace labrig::app {

// For man(1): troff with the man macros, in ASCII.
std::string manual_page(const CLI::App& program, const std::string& version);

}  // namespace labrig::app
