// What a student may see: hidden cases by name, status, reason code and metrics; nothing of their sizes, seeds or data.
// A visible check can quote the reason of a hidden case, so those texts are taken out of every other place as well.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "render.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

const std::string kInstead = "(a hidden case: details are not shown)";

bool hidden(const Json& object) { return object.is_object() && object.value("visibility", Json()) == "hidden"; }

// Takes the text of a reason out and remembers it.
void blank_reason(Json& object, std::vector<std::string>& secrets) {
  if (!object.contains("reason") || !object["reason"].is_object()) return;
  Json& text = object["reason"]["text"];
  if (text.is_string() && !text.get_ref<const std::string&>().empty()) secrets.push_back(text.get<std::string>());
  text = "";
}

void redact(Json& value, const std::vector<std::string>& secrets) {
  if (value.is_structured()) {
    for (Json& item : value) redact(item, secrets);
  } else if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    for (const std::string& secret : secrets) {
      for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kInstead.size())) {
        text.replace(at, secret.size(), kInstead);
      }
    }
  }
}

}  // namespace

Json student_view(const Json& report) {
  Json out = report;
  std::vector<std::string> secrets;
  for (Json& item : out["cases"]) {
    if (!hidden(item)) continue;
    item["parameters"] = Json::object();
    item["seed"] = nullptr;
    item["trace"] = nullptr;
    item["output"] = nullptr;
    blank_reason(item, secrets);
  }
  // What a visible case says as well is no secret.
  std::erase_if(secrets, [&](const std::string& secret) {
    return std::any_of(out["cases"].begin(), out["cases"].end(), [&](const Json& item) {
      return !hidden(item) && item.contains("reason") && item["reason"].is_object() && item["reason"]["text"] == secret;
    });
  });
  for (Json& item : out["checks"]) {
    if (!hidden(item)) continue;
    blank_reason(item, secrets);
    item["explain"] = nullptr;
  }
  for (const char* part : {"checks", "next_step", "verdict", "environment"}) {
    if (out.contains(part)) redact(out[part], secrets);
  }
  return out;
}

}  // namespace labrig::reports
