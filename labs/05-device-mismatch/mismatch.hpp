// What a device mismatch in train() tells a student: all operands in the core's words, and, instead of a remedy for the
// line that failed, where in the data flow to look. The code says which of the recipe's tensors stayed behind, where
// one of them is an operand.
#pragma once

#include <utility>

#include "labrig/error.hpp"
#include "program_text.hpp"

namespace device_mismatch {

struct OffOperand {
  std::string name;  // empty: the tensor has none
  std::string text;  // "other 'center' is f32[16] on cpu, made by zeros"
};

// The operands that a mismatch error lists ("sub works on one device: self 'x' is f32[2, 3] on sim:0, …; other …"), as
// far as they are off `device`. Numbers on the CPU are no one's fault.
inline std::vector<OffOperand> operands_off(const labrig::Error& error, labrig::Device device) {
  std::vector<OffOperand> off;
  std::string list = error.why();
  if (const std::size_t colon = list.find(": "); colon != std::string::npos) list.erase(0, colon + 2);
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find("; ", start), list.size());
    const std::string text = list.substr(start, end - start);
    start = end + 2;
    const std::size_t is = text.find(" is "), on = text.find(" on ", is == std::string::npos ? 0 : is);
    if (is == std::string::npos || on == std::string::npos) continue;
    const std::string where = text.substr(on + 4, text.find(',', on) - (on + 4));
    if (where == device.str() || text.compare(on - 2, 2, "[]") == 0) continue;
    const std::size_t quote = text.find('\'');
    const bool named = quote < is;
    off.push_back({named ? text.substr(quote + 1, text.find('\'', quote + 1) - quote - 1) : "", text});
  }
  return off;
}

// The same error, with a code and a remedy that follow the data flow.
inline labrig::Error explained(const labrig::Error& error, labrig::Device device) {
  if (error.code() != "device-mismatch") return error;
  std::vector<std::string> texts;
  std::string code = error.code();
  for (const OffOperand& operand : operands_off(error, device)) {
    texts.push_back(operand.text.substr(0, operand.text.find(" is ")));
    for (const char* known : {"features", "targets", "center"})
      if (operand.name == known && code == error.code()) code += std::string("-") + known;
  }
  const std::string off = texts.empty() ? "" : ", and off it is " + joined(texts, '+');
  const std::string fix =
      "training was asked for on " + device.str() + off +
      ". Do not patch this line: go back along the data flow to where that value was made, and make "
      "it on the device or move it there once";
  return labrig::Error(code, error.what(), error.why(), fix);
}

}  // namespace device_mismatch
