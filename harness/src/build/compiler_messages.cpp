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

// "/usr/bin/ld: …", "collect2: …", "{standard input}: …": a program of the compiler speaks of itself.
bool is_from_a_tool(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return false;
  std::string_view speaker = line.substr(0, colon);
  speaker.remove_prefix(speaker.rfind('/') + 1);  // npos + 1 is 0
  for (const std::string_view tool : {"ld", "as", "collect2", "cc1plus", "{standard input}"})
    if (speaker == tool) return true;
  return speaker.starts_with("g++") || speaker.starts_with("c++") || speaker.starts_with("clang");
}

std::vector<std::string> lines_of(const std::string& output) {
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string tool_failure(const std::string& output) {
  for (const std::string& line : lines_of(output)) {
    if (!is_from_a_tool(line)) continue;
    for (const std::string_view sign : {"No space left on device", "Disk quota exceeded", "Read-only file system",
                                        "cannot execute", "cannot find 'ld'", "Input/output error"})
      if (has(line, sign)) return line;
  }
  return {};
}

std::string first_error(const std::string& output) {
  const std::vector<std::string> lines = lines_of(output);
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
