// A value of a recorded document together with its place, so that whoever reads it need not say where it was when
// something is wrong: every mistake becomes `bad-file` with file, line and column. Keys that a reader does not know are
// collected, and named in the outcome. Read next: outcome.hpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conform/json_file.hpp"

namespace labrig::conform {

class Value {
 public:
  explicit Value(const JsonFile& file) : file_(&file), json_(&file.json()) {}

  const nlohmann::json& json() const { return *json_; }
  [[noreturn]] void fail(const std::string& problem) const { throw file_->error_at(place_, problem); }

  bool is_object() const { return json_->is_object(); }
  bool is_list() const { return json_->is_array(); }
  bool is_text() const { return json_->is_string(); }
  bool is_flag() const { return json_->is_boolean(); }
  // JSON's numbers, and NaN, Infinity, -Infinity.
  bool is_number() const;

  // Members of an object. The first fails when there is none; for the second null is none.
  Value at(const std::string& key) const;
  std::optional<Value> find(const std::string& key) const;
  // Every member, in the order of the names.
  std::vector<std::pair<std::string, Value>> members() const;
  std::vector<Value> items() const;
  // The same, where one entry stands for a list of one.
  std::vector<Value> items_or_one() const { return is_list() ? items() : std::vector<Value>{*this}; }
  // The entries of a recording: this list, or the list `key` of this object. Fails when there is none.
  std::vector<Value> entries(const char* key) const;
  // Adds the keys of this object that are not among `known` to `unknown`.
  void note_unknown(std::initializer_list<const char*> known, std::set<std::string>& unknown) const;

  std::string text() const;
  bool flag() const;
  double number() const;
  std::int64_t whole() const;
  std::uint64_t whole_below(std::uint64_t limit) const;
  std::vector<double> numbers() const;
  std::vector<std::int64_t> wholes() const;

 private:
  Value step(const nlohmann::json& json, nlohmann::json::json_pointer place) const;

  const JsonFile* file_;
  const nlohmann::json* json_;
  nlohmann::json::json_pointer place_;
};

}  // namespace labrig::conform
