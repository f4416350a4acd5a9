// A number as Python prints it, for PyTorch's error texts: the shortest text that reads back as the same value, and
// "1.0" for a whole one.
#pragma once

#include <charconv>
#include <string>

namespace labrig {

inline std::string python_number(double value) {
  char text[32];
  std::string number(text, std::to_chars(text, text + sizeof text, value).ptr);
  if (number.find_first_not_of("-0123456789") == std::string::npos) number += ".0";
  return number;
}

}  // namespace labrig
