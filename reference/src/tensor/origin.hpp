// Where a tensor came from, for error texts: "output of linear", "a view (transpose) of 'x'". Noting it must cost
// nothing: words that live as long as the program, and the name of the source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "labrig/device.hpp"

namespace labrig {

struct Origin {
  enum class Kind : std::uint8_t { unknown, made, output, view, copy, loaded };

  Kind kind = Kind::unknown;
  const char* by = "";  // the function: "zeros", "transpose", "to"
  std::string source;   // the name of the tensor or file that it came from, or of the operator; may be empty
  Device from = {};     // of a copy

  static Origin made_by(const char* function) { return {Kind::made, function, {}, {}}; }
  static Origin output_of(std::string_view op) { return {Kind::output, "", std::string(op), {}}; }
  static Origin view_of(const std::string& name, const char* function) { return {Kind::view, function, name, {}}; }
  static Origin copy_of(const std::string& name, Device from, const char* function) {
    return {Kind::copy, function, name, from};
  }
  static Origin loaded_from(const std::string& file) { return {Kind::loaded, "", file, {}}; }

  // As error texts have it; empty when nothing is known.
  std::string str() const;
};

}  // namespace labrig
