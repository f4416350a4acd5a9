// Scenario: reading the parameters that lab.toml names.
#include <fmt/format.h>

#include <cmath>

#include "labrig/error.hpp"
#include "labrig/lab.hpp"

namespace labrig::lab {

double Scenario::real(const std::string& name) const {
  if (auto found = parameters.find(name); found != parameters.end()) return found->second;
  std::string known;
  for (const auto& [key, value] : parameters) known += known.empty() ? key : ", " + key;
  throw Error("no-such-parameter", fmt::format("the scenario `{}` has no parameter `{}`", id, name),
              known.empty() ? "it has no parameters at all" : "it has: " + known,
              fmt::format("add `{}` to the parameters of [[scenario]] `{}` in lab.toml", name, id));
}

std::int64_t Scenario::integer(const std::string& name) const { return std::llround(real(name)); }

}  // namespace labrig::lab
