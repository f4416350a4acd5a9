#include "build/compiler_messages.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

namespace labrig::build {

namespace {

constexpr std::size_t kLongestLine = 300;  // messages about templates run to thousands of letters

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

// "labrig/plugin.hpp:54:65: error: …" of "/home/…/include/labrig/plugin.hpp:54:65: error: …".
std::string without_folders(std::string line) {
  if (!line.starts_with('/')) return line;
  const std::size_t end = line.find(':');
  const std::string_view path = std::string_view(line).substr(0, end);
  std::size_t from = path.rfind("/labrig/");
  if (from == std::string_view::npos) from = path.rfind('/');
  return line.substr(from + 1);
}

bool is_error(std::string_view line) { return has(line, ": error: ") || has(line, ": fatal error: "); }

// "   54 |   entry.create = …" and the mark below it, as g++ shows the code of a message.
std::string code_below(const std::vector<std::string>& lines, std::size_t error) {
  std::string code;
  for (std::size_t i = error + 1; i < lines.size() && i <= error + 2; ++i) {
    const std::size_t bar = lines[i].find(" | ");
    if (bar == std::string::npos || lines[i].find_first_not_of(" 0123456789") < bar) break;
    code += "\n" + lines[i].substr(0, kLongestLine);
  }
  return code;
}

// "interface.hpp:65:26: note:     'virtual Tensor Submission::score(…)'", of a class that cannot be made.
std::string missing_functions(const std::vector<std::string>& lines, std::size_t error) {
  std::string missing;
  for (std::size_t i = error + 1; i < lines.size() && !is_error(lines[i]); ++i) {
    const std::size_t at = lines[i].find("note:     'virtual ");
    if (at == std::string::npos) continue;
    const std::size_t from = lines[i].find('\'', at) + 1;
    missing += "\n  " + lines[i].substr(from, lines[i].rfind('\'') - from);
  }
  return missing.empty()
             ? ""
             : "\nthese functions of the interface are not written, or not with these parameters:" + missing;
}

std::string more_errors(const std::vector<std::string>& lines, std::size_t first) {
  std::size_t count = 0;
  for (std::size_t i = first + 1; i < lines.size(); ++i) count += is_error(lines[i]) ? 1 : 0;
  return count == 0 ? "" : "\nand " + std::to_string(count) + (count == 1 ? " more error" : " more errors");
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

// "submission.cpp:(.text+0x1a): undefined reference to `helper(int)'" and "…: multiple definition of `helper(int)'; …":
// what each is about, once, a line each.
std::string linker_errors(const std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> found;
  for (const std::string& line : lines)
    for (const std::string_view sign : {"undefined reference to ", "multiple definition of "})
      if (const std::size_t at = line.find(sign); at != std::string::npos) {
        const std::string told = line.substr(at, std::min(kLongestLine, line.find(';', at) - at));
        if (std::find(found.begin(), found.end(), told) == found.end()) found.push_back(told);
      }
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i) text += (i == 0 ? "" : "\n") + found[i];
  if (found.size() > kMost) text += "\nand " + std::to_string(found.size() - kMost) + " more";
  return text;
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
    if (is_error(line) && !is_from_a_tool(line)) {
      const bool own = is_in_student_file(line);
      std::string told = own ? line : origin_of(lines, i) + without_folders(line);
      if (told.size() > kLongestLine) told.resize(kLongestLine), told += " …";
      if (own) told += code_below(lines, i);
      return told + missing_functions(lines, i) + more_errors(lines, i);
    }
  }
  if (const std::string linker = linker_errors(lines); !linker.empty()) return linker;
  return output.substr(0, 2000);
}

}  // namespace labrig::build
