// What a student may see: hidden cases by name, status, reason code and metrics (codes that a submission can
// choose become the status); nothing of their sizes, seeds or data.
// A visible check can quote the reason of a hidden case, so those texts are taken out of every other place as well.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "render.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

const std::string kInstead = "(a hidden case: details are not shown)";

// The text of a member; empty where there is none.
std::string text_in(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool hidden(const Json& object) { return text_in(object, "visibility") == "hidden"; }

// The parts that are there; a list of objects, or nothing.
std::vector<Json*> objects_in(Json& report, const char* key) {
  std::vector<Json*> objects;
  if (!report.contains(key) || !report[key].is_array()) return objects;
  for (Json& item : report[key])
    if (item.is_object()) objects.push_back(&item);
  return objects;
}

// Takes the text of a reason out and remembers it.
void blank_reason(Json& object, std::vector<std::string>& secrets) {
  if (!object.contains("reason") || !object["reason"].is_object()) return;
  Json& text = object["reason"]["text"];
  if (text.is_string() && !text.get_ref<const std::string&>().empty()) secrets.push_back(text.get<std::string>());
  text = "";
}

// How a call ended that did not come back: its code may be a word of the submission's own choice, made of what it saw.
// The status says as much as a student may know.
void plain_code(Json& object, std::map<std::string, std::string>& codes) {
  const std::string status = text_in(object, "status");
  if (status != "crashed" && status != "out_of_memory") return;
  if (!object.contains("reason") || text_in(object["reason"], "code").empty()) return;
  std::string plain = status;
  std::replace(plain.begin(), plain.end(), '_', '-');
  codes[text_in(object["reason"], "code")] = plain;
  object["reason"]["code"] = plain;
}

// Kind and streams stay; names, texts, counts and times can hold sizes.
void blank_hazards(Json& object) {
  object["notes"] = Json::array();
  for (Json* one : objects_in(object, "hazards")) {
    Json& hazard = *one;
    hazard["text"] = hazard["buffer"] = "";
    hazard["count"] = hazard["bytes"] = 0;
    hazard.erase("time_ps");
    for (const char* side : {"earlier", "later"})
      if (hazard.contains(side) && hazard[side].is_object()) hazard[side]["what"] = "";
  }
}

// "round 12" says that there are more than eleven.
std::string without_numbers(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) plain += c;
    if (digit && !plain.ends_with("#")) plain += '#';
  }
  return plain;
}

// What was compared, its code and the pattern stay, once each; all else counts values, or rounds.
void blank_mismatches(Json& object, std::vector<std::string>& secrets) {
  if (!object.contains("mismatches")) return;
  Json kept = Json::array();
  for (Json* one : objects_in(object, "mismatches")) {
    Json& mismatch = *one;
    for (const auto& [key, value] : mismatch.items()) {
      if (value.is_number()) value = 0;
      if (key == "what" && value.is_string()) value = without_numbers(value.get<std::string>());
      if (key != "text" && key != "pattern_text") continue;
      if (value.is_string() && value != "") secrets.push_back(value.get<std::string>());
      value = "";
    }
    if (std::find(kept.begin(), kept.end(), mismatch) == kept.end()) kept.push_back(mismatch);
  }
  object["mismatches"] = std::move(kept);
}

// Members that are no sentences: a submission can choose the text of a reason, and these words must stay what they are.
bool is_a_name(const std::string& key) {
  static const std::set<std::string> names = {"id",    "status", "visibility", "case",    "code",
                                              "check", "unit",   "facts",      "handout", "command"};
  return names.contains(key);
}

// Codes as members, and in brackets in sentences.
void replace_codes(Json& value, const std::map<std::string, std::string>& codes, const std::string& key = {}) {
  if (value.is_object())
    for (const auto& [name, item] : value.items()) replace_codes(item, codes, name);
  if (value.is_array())
    for (Json& item : value) replace_codes(item, codes, key);
  if (!value.is_string()) return;
  auto& text = value.get_ref<std::string&>();
  for (const auto& [code, plain] : codes) {
    if (key == "code" && text == code) text = plain;
    if (is_a_name(key)) continue;
    if (const std::size_t at = text.find("(" + code + ")"); at != std::string::npos)
      text.replace(at + 1, code.size(), plain);
  }
}

void redact(Json& value, const std::vector<std::string>& secrets, const std::string& key = {}) {
  if (value.is_object())
    for (const auto& [name, item] : value.items()) redact(item, secrets, name);
  if (value.is_array())
    for (Json& item : value) redact(item, secrets, key);
  if (!value.is_string() || is_a_name(key)) return;
  auto& text = value.get_ref<std::string&>();
  for (const std::string& secret : secrets) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kInstead.size())) {
      text.replace(at, secret.size(), kInstead);
    }
  }
}

void blank_case(Json& item, std::vector<std::string>& secrets, std::map<std::string, std::string>& codes) {
  item["parameters"] = Json::object();
  item["seed"] = nullptr;
  item["trace"] = nullptr;
  item["output"] = nullptr;
  blank_reason(item, secrets);
  plain_code(item, codes);
  blank_hazards(item);
  blank_mismatches(item, secrets);
  if (item.contains("charts")) item["charts"] = Json::array();
}

// How a call ended that did not come back: the case's reason, or null.
Json end_of(const Json& item) {
  const std::string status = text_in(item, "status");
  return status == "crashed" || status == "out_of_memory" ? item.value("reason", Json()) : Json();
}

// Whether a check was lost by the end of a hidden case, and no visible case ends in the same words.
bool lost_by_hidden_end(const Json& check, const Json& cases) {
  if (!check.contains("explain") || !check["explain"].is_object()) return false;
  const std::string where = text_in(check["explain"], "where");
  return std::any_of(cases.begin(), cases.end(), [&](const Json& item) {
    const Json end = end_of(item);
    return hidden(item) && !end.is_null() && where.starts_with(text_in(item, "id") + ", ") &&
           std::none_of(cases.begin(), cases.end(),
                        [&](const Json& other) { return !hidden(other) && end_of(other) == end; });
  });
}

// What an error says that the submission threw is made of what it saw, and stands in the checks in parts.
void blank_thrown(const Json& report, Json& out) {
  if (!report.contains("cases")) return;
  const std::string next =
      "make sure that every visible case works; then think of sizes and cards that they do not have";
  for (Json* check : objects_in(out, "checks")) {
    if (!lost_by_hidden_end(*check, report["cases"])) continue;
    if (check->contains("reason") && (*check)["reason"].is_object()) (*check)["reason"]["text"] = kInstead;
    (*check)["explain"].update({{"what", kInstead}, {"cause", ""}, {"next", next}, {"evidence", ""}});
    const bool is_next = out.contains("next_step") && out["next_step"].is_object() &&
                         text_in(out["next_step"], "check") == text_in(*check, "id");
    if (is_next) out["next_step"]["text"] = next;
  }
}

}  // namespace

Json student_view(const Json& report) {
  Json out = report;
  out["copy"] = "student";
  std::vector<std::string> secrets;
  std::map<std::string, std::string> codes;
  for (Json* item : objects_in(out, "cases"))
    if (hidden(*item)) blank_case(*item, secrets, codes);
  blank_thrown(report, out);
  for (const Json* item : objects_in(out, "cases")) {
    if (hidden(*item) || !item->contains("reason")) continue;
    // What a visible case says as well is no secret.
    codes.erase(text_in((*item)["reason"], "code"));
    const std::string said = text_in((*item)["reason"], "text");
    std::erase_if(secrets, [&](const std::string& secret) { return said.find(secret) != std::string::npos; });
  }
  for (Json* item : objects_in(out, "checks")) {
    if (!hidden(*item)) continue;
    blank_reason(*item, secrets);
    (*item)["explain"] = nullptr;
  }
  for (const char* part : {"checks", "next_step", "verdict", "environment"}) {
    if (!out.contains(part)) continue;
    redact(out[part], secrets);
    replace_codes(out[part], codes);
  }
  return out;
}

}  // namespace labrig::reports
