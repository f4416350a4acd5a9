#include "build/compiler_messages.hpp"

#include <sstream>
#include <string_view>
#include <vector>

namespace labrig::build {

namespace {

bool has(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

// The student's files are compiled by relative names, everything else by absolute ones.
bool is_in_student_file(std::string_view line) {
  return !line.starts_with('/') && !line.starts_with(' ') && has(line, ".");
}

// "   required from here" lines name the student's code when the error itself is in a header.
std::string origin_of(const std::vector<std::string>& lines, std::size_t error) {
  for (std::size_t i = error; i-- > 0;)
    if (is_in_student_file(lines[i]) && has(lines[i], "required from"))
      return lines[i].substr(0, lines[i].find(": ")) + ": ";
  return {};
}

}  // namespace

std::string first_error(const std::string& output) {
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (has(line, ": error: ") || has(line, ": fatal error: "))
      return is_in_student_file(line) ? line : origin_of(lines, i) + line;
    // The linker: "submission.cpp:(.text+0x1a): undefined reference to `helper(int)'"
    if (const std::size_t at = line.find("undefined reference to "); at != std::string::npos) return line.substr(at);
  }
  return output.substr(0, 2000);
}

}  // namespace labrig::build
