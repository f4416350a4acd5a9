// Interned text: what the user would call a tensor. A client sends a text once and its number afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/command.hpp"

namespace labrig::sim {

class NameTable {
 public:
  bool known(std::uint32_t name) const { return name == 0 || (name < texts_.size() && defined_[name]); }
  // The text of a known name; "" for name 0.
  const std::string& text(std::uint32_t name) const { return texts_[known(name) ? name : 0]; }
  // False when the number is 0, taken, or above the limit. Unprintable characters become '?'.
  bool define(std::uint32_t name, const char (&text)[kNameBytes]);

 private:
  std::vector<std::string> texts_ = {""};
  std::vector<bool> defined_ = {true};
};

// How a message calls a tensor: "tensor 'x'", or "an unnamed tensor".
inline std::string quoted(const std::string& name) {
  return name.empty() ? "an unnamed tensor" : "tensor '" + name + "'";
}

}  // namespace labrig::sim
