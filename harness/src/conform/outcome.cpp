// The two forms of an outcome.
#include "conform/outcome.hpp"

#include <algorithm>

namespace labrig::conform {
namespace {

using nlohmann::ordered_json;

// The other entries that differ are listed in one line each, up to this many.
constexpr std::size_t kListed = 20;

template <class Names>
std::string joined(const Names& names) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string table_text(const Table& table) {
  std::vector<std::size_t> widths;
  widths.reserve(table.head.size());
  for (const std::string& head : table.head) widths.push_back(head.size());
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += (c == 0 ? "" : "  ") + std::string(widths[c] - row[c].size(), ' ') + row[c];
    }
    text += "\n";
  };
  add(table.head);
  for (const auto& row : table.rows) add(row);
  return text;
}

// A name for each reason, so that a reason is said once.
std::string left_out_text(const Outcome& outcome) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [name, reason] : outcome.left_out) by_reason[reason].push_back(name);
  std::string text;
  for (const auto& [reason, names] : by_reason) text += "not compared: " + joined(names) + ": " + reason + "\n";
  return text;
}

std::string differences_text(const std::vector<Difference>& differences) {
  if (differences.empty()) return "";
  const Difference& first = differences.front();
  std::string text = "first difference: " + first.where + "\n  key:      " + first.key +
                     "\n  expected: " + first.expected + "\n  got:      " + first.got + "\n";
  for (std::size_t i = 1; i < std::min(differences.size(), kListed + 1); ++i) {
    const Difference& other = differences[i];
    text += "also differs: " + other.where + ": " + other.key + ": expected " + other.expected + ", got " + other.got +
            "\n";
  }
  if (differences.size() > kListed + 1) text += "and " + std::to_string(differences.size() - kListed - 1) + " more\n";
  return text;
}

ordered_json difference_json(const Difference& difference) {
  ordered_json json = difference.place;
  json["key"] = difference.key;
  json["expected"] = difference.expected;
  json["got"] = difference.got;
  return json;
}

ordered_json table_json(const Table& table) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : table.rows) {
    ordered_json object = ordered_json::object();
    for (std::size_t c = 0; c < row.size(); ++c) object[table.head[c]] = row[c];
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace

std::string to_text(const Outcome& outcome) {
  std::string text;
  if (!outcome.table.rows.empty()) text += table_text(outcome.table) + "\n";
  text += std::to_string(outcome.passed) + " of " + std::to_string(outcome.total) + " " + outcome.word + "\n";
  for (const std::string& note : outcome.notes) text += note + "\n";
  text += left_out_text(outcome);
  if (!outcome.ignored.empty()) text += "not known here, and ignored: " + joined(outcome.ignored) + "\n";
  return text + differences_text(outcome.differences);
}

ordered_json to_json(const Outcome& outcome) {
  ordered_json json = {
      {"kind", outcome.kind}, {"device", nullptr}, {"total", outcome.total}, {"exact", outcome.passed}};
  if (!outcome.device.empty()) json["device"] = outcome.device;
  json.update(outcome.figures);
  json["ignored"] = outcome.ignored;
  json["left_out"] = outcome.left_out;
  json["notes"] = outcome.notes;
  if (!outcome.table.rows.empty()) json["table"] = table_json(outcome.table);
  json["first_difference"] = nullptr;
  json["differences"] = ordered_json::array();
  for (const Difference& difference : outcome.differences) json["differences"].push_back(difference_json(difference));
  if (!outcome.differences.empty()) json["first_difference"] = json["differences"][0];
  return json;
}

}  // namespace labrig::conform
