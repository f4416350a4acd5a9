#include "page_data.hpp"

#include <nlohmann/json.hpp>

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

// "<" stands in texts only; as \u003c it ends no element and begins no comment. What an editor would not show, such as
// marks that turn the direction of a line, stands as an escape, too.
std::string without_markup(const Json& report) {
  std::string out;
  for (const char c : report.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace))
    out += c == '<' ? std::string("\\u003c") : c == '\x7f' ? std::string("\\u007f") : std::string(1, c);
  return out;
}

void leave_out(Json& report, const char* key, const Json& instead) {
  if (!report.is_object() || !report.contains("cases") || !report["cases"].is_array()) return;
  for (Json& one : report["cases"])
    if (one.is_object() && one.contains(key)) one[key] = instead;
}

}  // namespace

std::string page_data(const Json& report, std::size_t page_bytes, bool& whole) {
  std::string text = without_markup(report);
  whole = page_bytes + text.size() <= kPageLimit;
  if (whole) return text;
  Json smaller = report;
  leave_out(smaller, "trace", nullptr);
  text = without_markup(smaller);
  if (page_bytes + text.size() <= kPageLimit) return text;
  leave_out(smaller, "charts", Json::array());
  leave_out(smaller, "output", nullptr);
  text = without_markup(smaller);
  return page_bytes + text.size() <= kPageLimit ? text : "null";
}

}  // namespace labrig::reports
