// Values: what travels between supervisor and worker under names. A short list, so a linear search finds a name, and
// the order in which a lab set them is kept for reports.
#include <fmt/format.h>

#include "labrig/error.hpp"
#include "labrig/lab.hpp"

namespace labrig::lab {

namespace {

const char* type_name(const Values::Value& value) {
  constexpr const char* names[] = {"a tensor", "an integer", "a real number", "a text"};
  return names[value.index()];
}

template <class T>
const T& as(const Values::Value& value, std::string_view name, const char* wanted) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  throw Error("no-such-value", fmt::format("the value `{}` is not {}", name, wanted),
              fmt::format("it was set as {}", type_name(value)),
              "read it with the function of that type: tensor(), integer(), real() or text()");
}

}  // namespace

void Values::set(const std::string& name, const Tensor& value) {
  if (!value.defined() || !value.device().is_cpu())
    throw Error("not-on-the-host", fmt::format("the value `{}` is not a CPU tensor", name),
                value.defined() ? "it lives on " + value.device().str() : "it is undefined: nothing was assigned to it",
                "make it on the host, or copy it there with .cpu()");
  // A handle of its own: naming it does not rename the caller's tensor.
  Tensor own = value.contiguous().detach();
  own.set_name(name);
  put(name, std::move(own));
}
void Values::set(const std::string& name, std::int64_t value) { put(name, value); }
void Values::set(const std::string& name, double value) { put(name, value); }
void Values::set(const std::string& name, const std::string& value) { put(name, value); }

bool Values::has(std::string_view name) const {
  for (const auto& [key, value] : values_)
    if (key == name) return true;
  return false;
}

const Tensor& Values::tensor(std::string_view name) const { return as<Tensor>(get(name), name, "a tensor"); }
std::int64_t Values::integer(std::string_view name) const { return as<std::int64_t>(get(name), name, "an integer"); }
double Values::real(std::string_view name) const { return as<double>(get(name), name, "a real number"); }
const std::string& Values::text(std::string_view name) const { return as<std::string>(get(name), name, "a text"); }

void Values::put(const std::string& name, Value value) {
  for (auto& [key, old] : values_)
    if (key == name) {
      old = std::move(value);
      return;
    }
  values_.emplace_back(name, std::move(value));
}

const Values::Value& Values::get(std::string_view name) const {
  std::string known;
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
    known += known.empty() ? key : ", " + key;
  }
  throw Error("no-such-value", fmt::format("there is no value `{}`", name),
              known.empty() ? "no value was set" : "these were set: " + known,
              "set it in inputs() (for call and judge) or as an output in call() (for judge), under the same name");
}

}  // namespace labrig::lab
