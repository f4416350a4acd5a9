// A recorded program as a text, since texts are what travels between supervisor and worker: a line for the operation
// that failed, one for each value, an empty line, and the error.
#pragma once

#include <sstream>

#include "interface.hpp"

namespace device_mismatch {

inline std::string joined(const std::vector<std::string>& words, char between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(1, between)) + word;
  return text;
}

// An empty text has no parts.
inline std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, between);) parts.push_back(part);
  return parts;
}

inline std::string to_text(const Program& program) {
  std::string text = program.operation + '\t' + joined(program.operands, ',') + '\n';
  for (const Value& value : program.values) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : value.sizes) sizes.push_back(std::to_string(size));
    text += joined({value.name, value.made_by, value.device.str(), value.line}, '\t') + '\t' +
            joined(value.inputs, ',') + '\t' + joined(sizes, ',') + '\n';
  }
  return text + '\n' + program.error;
}

inline Program program_from(const std::string& text) {
  Program program;
  const std::size_t end = text.find("\n\n");
  program.error = text.substr(end + 2);
  for (const std::string& line : split(text.substr(0, end), '\n')) {
    std::vector<std::string> parts = split(line, '\t');
    if (program.operation.empty()) {
      program.operation = parts.at(0);
      program.operands = split(parts.at(1), ',');
      continue;
    }
    parts.resize(6);  // what is empty at the end has no part
    Value value{parts[0], parts[1], split(parts[4], ','), labrig::Device(parts[2]), {}, parts[3]};
    for (const std::string& size : split(parts[5], ',')) value.sizes.push_back(std::stoll(size));
    program.values.push_back(std::move(value));
  }
  return program;
}

}  // namespace device_mismatch
