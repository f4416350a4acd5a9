// The part of JSON Schema (draft 7) that our schema uses, so that a message can say what is there and what may be.
// tests/unit/reports/report_fit_test.cpp holds its answers against valijson's, on hundreds of broken reports. Shapes
// of texts go through std::regex, which recurses with the length of a text: long ones fit none of our shapes anyway.
#include "report_fit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "template.hpp"
#include "text.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostPlaces = 100;
constexpr std::size_t kLongestShape = 256;
constexpr double kRounding = 0.051;  // points are rounded to 0.1, so they may be above a most that is not

const Json& schema() {
  static const Json whole = Json::parse(templates().at("../schema/report-1.schema.json"));
  return whole;
}

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_string()) return "\"" + printable(value.get_ref<const std::string&>(), Lines::one, 40) + "\"";
  return value.dump();
}

bool is_of(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (!value.is_number()) return false;
  return type == "number" || value.is_number_integer() || std::trunc(value.get<double>()) == value.get<double>();
}

std::string name_of_type(const std::string& type) {
  static const std::map<std::string, std::string> names = {
      {"null", "null"},        {"boolean", "true or false"}, {"string", "a text"},         {"array", "a list"},
      {"object", "an object"}, {"number", "a number"},       {"integer", "a whole number"}};
  return names.at(type);
}

// Always a list.
Json types_of(const Json& rule) {
  if (!rule.contains("type")) return Json::array();
  return rule["type"].is_array() ? rule["type"] : Json::array({rule["type"]});
}

// What a rule allows, in words.
std::string wanted_by(const Json& rule) {
  std::string words;
  const auto add = [&](const std::string& between, const std::string& word) {
    words += (words.empty() ? "" : between) + word;
  };
  if (rule.contains("const")) return shown(rule["const"]);
  if (rule.contains("enum")) {
    for (const Json& value : rule["enum"]) add(", ", value.is_string() ? value.get<std::string>() : value.dump());
    return "one of " + words;
  }
  for (const Json& type : types_of(rule)) add(" or ", name_of_type(type.get<std::string>()));
  if (rule.contains("minimum")) add(", ", rule["minimum"].dump() + " or more");
  if (rule.contains("maximum")) add(", ", "at most " + rule["maximum"].dump());
  if (rule.contains("minLength")) add(", ", "not empty");
  if (rule.contains("maxItems")) add(", ", fmt::format("of {} at most", rule["maxItems"].dump()));
  if (rule.contains("pattern")) add(", ", "of the shape " + rule["pattern"].get<std::string>());
  return words;
}

bool has_shape(const std::string& text, const std::string& pattern) {
  static std::map<std::string, std::regex> known;
  const auto found = known.try_emplace(pattern, pattern).first;
  return text.size() <= kLongestShape && std::regex_search(text, found->second);
}

class Look {
 public:
  void at(const Json& value, const Json& said, const std::string& place) {
    if (misfits_.size() >= kMostPlaces) return;
    const Json& rule = said.contains("$ref") ? definition(said["$ref"].get<std::string>()) : said;
    const Json types = types_of(rule);
    const bool typed = types.empty() || std::any_of(types.begin(), types.end(), [&](const Json& type) {
                         return is_of(value, type.get<std::string>());
                       });
    if (!typed || !in_range(value, rule)) return add(place, shown(value), wanted_by(rule), true);
    if (!is_known(value, rule)) return add(place, shown(value), wanted_by(rule), decides(place));
    if (value.is_object()) object(value, rule, place);
    if (value.is_array()) list(value, rule, place);
    if (value.is_string()) text(value.get_ref<const std::string&>(), rule, place);
  }

  // No more points than there are: what the schema cannot say.
  void sums(const Json& report) {
    for (std::size_t i = 0; i < report["checks"].size(); ++i) {
      const Json& check = report["checks"][i];
      at_most(check["points"], check["max_points"], fmt::format("checks[{}].points", i), "max_points");
    }
    if (report["score"].is_number()) at_most(report["score"], report["max_score"], "score", "max_score");
  }

  std::vector<Misfit> take() && { return std::move(misfits_); }

 private:
  static const Json& definition(const std::string& reference) {
    return schema().at(Json::json_pointer(reference.substr(1)));
  }

  // What renderings go by; the other words of a list (a hazard's kind, a lane) are shown as they are.
  static bool decides(const std::string& place) {
    const std::string name = place.substr(place.find_last_of('.') + 1);
    return name == "schema" || name == "status" || name == "visibility";
  }

  static bool is_known(const Json& value, const Json& rule) {
    if (rule.contains("const") && value != rule["const"]) return false;
    return !rule.contains("enum") || std::find(rule["enum"].begin(), rule["enum"].end(), value) != rule["enum"].end();
  }

  static bool in_range(const Json& value, const Json& rule) {
    if (!value.is_number()) return true;
    const auto number = value.get<double>();
    return !(rule.contains("minimum") && number < rule["minimum"].get<double>()) &&
           !(rule.contains("maximum") && number > rule["maximum"].get<double>());
  }

  void object(const Json& value, const Json& rule, const std::string& place) {
    const std::string dot = place.empty() ? "" : ".";
    static const Json nothing = Json::object();
    const Json& properties = rule.contains("properties") ? rule["properties"] : nothing;
    if (rule.contains("required"))
      for (const Json& name : rule["required"])
        if (!value.contains(name)) {
          const std::string member = name.get<std::string>();
          const Json& said = properties.at(member);
          add(place + dot + member, "missing",
              wanted_by(said.contains("$ref") ? definition(said["$ref"].get<std::string>()) : said), true);
        }
    for (const auto& [name, item] : value.items()) {
      const std::string where = place + dot + printable(name, Lines::one, 60);
      if (properties.contains(name)) {
        at(item, properties[name], where);
      } else if (rule.contains("additionalProperties") && rule["additionalProperties"].is_object()) {
        at(item, rule["additionalProperties"], where);
      } else if (rule.value("additionalProperties", Json(true)) == false) {
        add(where, shown(item), "no member of this name", false);
      }
    }
  }

  void list(const Json& value, const Json& rule, const std::string& place) {
    const bool too_many = rule.contains("maxItems") && value.size() > rule["maxItems"].get<std::size_t>();
    const bool too_few = rule.contains("minItems") && value.size() < rule["minItems"].get<std::size_t>();
    if (too_many || too_few) add(place, shown(value), wanted_by(rule), false);
    if (!rule.contains("items")) return;
    for (std::size_t i = 0; i < value.size(); ++i) at(value[i], rule["items"], fmt::format("{}[{}]", place, i));
  }

  void text(const std::string& value, const Json& rule, const std::string& place) {
    const bool empty = rule.contains("minLength") && value.size() < rule["minLength"].get<std::size_t>();
    const bool shapeless = rule.contains("pattern") && !has_shape(value, rule["pattern"].get<std::string>());
    if (empty || shapeless) add(place, shown(value), wanted_by(rule), false);
  }

  void at_most(const Json& value, const Json& most, const std::string& place, const char* name) {
    if (value.get<double>() <= most.get<double>() + kRounding) return;
    add(place, value.dump(), fmt::format("at most its {}, {}", name, most.dump()), true);
  }

  void add(const std::string& place, const std::string& found, const std::string& wanted, bool grave) {
    if (misfits_.size() < kMostPlaces) misfits_.push_back({place, found, wanted, grave});
  }

  std::vector<Misfit> misfits_;
};

}  // namespace

std::vector<Misfit> misfits_of(const Json& report) {
  Look look;
  look.at(report, schema(), "");
  std::vector<Misfit> misfits = std::move(look).take();
  if (std::any_of(misfits.begin(), misfits.end(), [](const Misfit& one) { return one.grave; })) return misfits;
  Look sums;
  sums.sums(report);
  const std::vector<Misfit> more = std::move(sums).take();
  misfits.insert(misfits.begin(), more.begin(), more.end());
  return misfits;
}

}  // namespace labrig::reports
