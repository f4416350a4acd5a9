// Whether a report.json is one: held against reports/schema/report-1.schema.json, which is part of the library. For
// files that may have been edited, or made by something else; what was just graded needs no such look.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace labrig::reports {

// A place where a report is not as the schema says.
struct Misfit {
  std::string place;   // checks[3].points; empty: the whole report
  std::string found;   // -1, "<b>", a list, nothing
  std::string wanted;  // a number, 0 or more
  // A type, a missing member, a number out of its range, a status that there is not: renderings reckon with these, and
  // each would say something else. The others (the shape of an id, the length of a list, a member of a later version)
  // are only shown, or left out.
  bool grave = true;
};

// In the order of the report; at most 100 places.
std::vector<Misfit> misfits_of(const nlohmann::json& report);

}  // namespace labrig::reports
