// Reading JSON is forgiving and total: one accessor a type, each with a default. Texts come out printable (text.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::json_read {

using Json = nlohmann::json;

inline const Json& member(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

inline std::string text_of(const Json& value, Lines lines = Lines::one, std::size_t limit = kLineLimit) {
  return value.is_string() ? printable(value.get_ref<const std::string&>(), lines, limit) : std::string();
}
inline std::string text(const Json& object, const char* key) { return text_of(member(object, key)); }
// Sentences of several lines (three-line errors) keep their newlines.
inline std::string prose(const Json& object, const char* key) { return text_of(member(object, key), Lines::many); }

inline double number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? value.get<double>() : 0.0;
}
inline std::optional<double> maybe_number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}
inline bool flag(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}
// Whole numbers may be written as 2.0; what 64 bits do not hold becomes the nearest that they do.
inline std::int64_t integer_of(const Json& value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (value.is_number_unsigned())
    return static_cast<std::int64_t>(std::min(value.get<std::uint64_t>(), static_cast<std::uint64_t>(kMost)));
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return 0;
  const auto number = value.get<double>();
  if (!(std::abs(number) < 9.2e18)) return number > 0 ? kMost : std::numeric_limits<std::int64_t>::min();
  return std::llround(number);
}
inline std::int64_t integer(const Json& object, const char* key) { return integer_of(member(object, key)); }

inline const Json& list(const Json& object, const char* key) {
  static const Json empty = Json::array();
  const Json& value = member(object, key);
  return value.is_array() ? value : empty;
}
inline std::vector<std::string> texts(const Json& object, const char* key) {
  std::vector<std::string> out;
  for (const Json& item : list(object, key)) out.push_back(text_of(item, Lines::many));
  return out;
}

inline Reason read_reason(const Json& object) {
  const Json& reason = member(object, "reason");
  return {text(reason, "code"), prose(reason, "text")};
}

inline Numbers read_numbers(const Json& object, const char* key) {
  Numbers out;
  const Json& numbers = member(object, key);
  if (!numbers.is_object()) return out;
  const auto add = [&](const std::string& name, const Json& value) {
    if (value.is_number()) out.emplace_back(printable(name), value.get<double>());
  };
  const auto& known = known_metrics();
  for (const MetricInfo& metric : known) add(metric.name, member(numbers, metric.name.c_str()));
  for (const auto& [name, value] : numbers.items()) {
    const std::string& wanted = name;
    if (std::none_of(known.begin(), known.end(), [&](const MetricInfo& m) { return m.name == wanted; }))
      add(name, value);
  }
  return out;
}

}  // namespace labrig::reports::json_read
