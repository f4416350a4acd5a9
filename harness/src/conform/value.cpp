// Walks a document by keys and numbers, and keeps the pointer to where it is.
#include "conform/value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace labrig::conform {

namespace {

// What the words for numbers that are not finite mean, in the spellings of Python's json and of its str().
std::optional<double> not_finite(const nlohmann::json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "inf") return kInfinity;
  if (text == "-Infinity" || text == "-inf") return -kInfinity;
  return std::nullopt;
}

}  // namespace

Value Value::step(const nlohmann::json& json, nlohmann::json::json_pointer place) const {
  Value value(*file_);
  value.json_ = &json;
  value.place_ = std::move(place);
  return value;
}

bool Value::is_number() const { return json_->is_number() || not_finite(*json_); }

std::optional<Value> Value::find(const std::string& key) const {
  if (!is_object()) fail("is not an object");
  const auto found = json_->find(key);
  if (found == json_->end() || found->is_null()) return std::nullopt;
  return step(*found, place_ / key);
}

Value Value::at(const std::string& key) const {
  const std::optional<Value> value = find(key);
  if (!value) fail("has no \"" + key + "\"");
  return *value;
}

std::vector<std::pair<std::string, Value>> Value::members() const {
  if (!is_object()) fail("is not an object");
  std::vector<std::pair<std::string, Value>> result;
  for (const auto& [key, value] : json_->items()) result.emplace_back(key, step(value, place_ / key));
  return result;
}

std::vector<Value> Value::items() const {
  if (!is_list()) fail("is not a list");
  std::vector<Value> result;
  result.reserve(json_->size());
  for (std::size_t i = 0; i < json_->size(); ++i) result.push_back(step((*json_)[i], place_ / i));
  return result;
}

std::vector<Value> Value::entries(const char* key) const {
  const Value list = is_object() ? at(key) : *this;
  if (!list.is_list()) list.fail("is not a list");
  if (list.json().empty()) list.fail("is empty: there is nothing to compare");
  return list.items();
}

void Value::note_unknown(std::initializer_list<const char*> known, std::set<std::string>& unknown) const {
  if (!is_object()) fail("is not an object");
  for (const auto& [key, value] : json_->items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) unknown.insert(key);
  }
}

std::string Value::text() const {
  if (!is_text()) fail("is not a text");
  return json_->get<std::string>();
}

bool Value::flag() const {
  if (!is_flag()) fail("is neither true nor false");
  return json_->get<bool>();
}

double Value::number() const {
  if (json_->is_number()) return json_->get<double>();
  const std::optional<double> value = not_finite(*json_);
  if (!value) fail("is not a number");
  return *value;
}

std::int64_t Value::whole() const {
  if (json_->is_number_float()) {  // 2.0
    const auto value = json_->get<double>();
    if (std::fabs(value) < 0x1p53 && value == std::floor(value)) return static_cast<std::int64_t>(value);
  }
  if (!json_->is_number_integer()) fail("is not a whole number");
  if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    fail("is too large");
  }
  return json_->get<std::int64_t>();
}

std::uint64_t Value::whole_below(std::uint64_t limit) const {
  if (!json_->is_number_integer()) fail("is not a whole number");
  if (!json_->is_number_unsigned() || json_->get<std::uint64_t>() >= limit) fail("is negative or too large");
  return json_->get<std::uint64_t>();
}

std::vector<double> Value::numbers() const {
  std::vector<double> result;
  for (const Value& item : items()) result.push_back(item.number());
  return result;
}

std::vector<std::int64_t> Value::wholes() const {
  std::vector<std::int64_t> result;
  for (const Value& item : items()) result.push_back(item.whole());
  return result;
}

}  // namespace labrig::conform
