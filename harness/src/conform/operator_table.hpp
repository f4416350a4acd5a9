// How each operator of a recording is called here: by the name that the recording gives it, with its inputs in
// PyTorch's order and its attributes. Read next: operators.hpp (what is compared).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conform/value.hpp"
#include "labrig/ops.hpp"

namespace labrig::conform {

// The attributes of one recorded call. What is asked for is remembered, so that the rest can be named.
class Attributes {
 public:
  explicit Attributes(std::optional<Value> object) : object_(std::move(object)) {}

  // Under any of these names; the first that is there.
  std::optional<Value> find(std::initializer_list<const char*> names) const;
  double number(std::initializer_list<const char*> names, double otherwise) const;
  std::int64_t whole(std::initializer_list<const char*> names, std::int64_t otherwise) const;
  bool flag(std::initializer_list<const char*> names, bool otherwise) const;
  std::string text(std::initializer_list<const char*> names, const std::string& otherwise) const;
  // One number, or a list of numbers; none when there is no such attribute.
  std::optional<Dims> dims(std::initializer_list<const char*> names) const;
  // Names that nobody asked for.
  std::set<std::string> unknown() const;

 private:
  std::optional<Value> object_;
  mutable std::set<std::string> known_;
};

// Of inputs.
inline constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);

struct RecordedOperator {
  std::string_view name;
  // Throws Error as the operator does.
  std::function<Tensor(const std::vector<Tensor>& inputs, const Attributes& attributes)> call;
  std::size_t least_inputs = 1, most_inputs = 1;
  // Inputs that hold whole numbers where the recording does not say (bit i: input i), and those that are masks.
  unsigned whole = 0, mask = 0;
};

// Null for a name that is not known here.
const RecordedOperator* operator_named(std::string_view name);

}  // namespace labrig::conform
