// A rule that the client broke, in the three sentences of an error. The first one stays: it is returned by every later
// two-way command and stands in the report.
#pragma once

#include <string>

namespace labrig::sim {

struct Violation {
  std::string code;  // Report::violation_code
  std::string what, why, fix;

  // As it travels in a reply and stands in a report: the three sentences, one a line.
  std::string text() const { return what + "\n  why: " + why + "\n  fix: " + fix; }
};

}  // namespace labrig::sim
