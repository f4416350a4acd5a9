// One finding of `labrig doctor`: what was looked at, what was found as typed facts, and, where something is wrong, why
// and what to do. Read next: answer.hpp (how findings are told), docs/doctor.md (the ids).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "labrig/error.hpp"

namespace labrig::doctor {

using Facts = nlohmann::ordered_json;  // an object

// `warn`: labrig works, but something is less than it could be. `fail`: labrig does not work here. `skipped`: there was
// nothing to look at; `what` says why.
enum class Status { ok, warn, fail, skipped };
const char* name_of(Status status);

struct Check {
  std::string id;  // stable
  Status status = Status::ok;
  std::string what, why, fix;  // `why` and `fix` with `warn` and `fail` alone
  Facts facts = Facts::object();
};

inline Check passed(std::string id, std::string what, Facts facts = Facts::object()) {
  return {std::move(id), Status::ok, std::move(what), "", "", std::move(facts)};
}
inline Check skipped(std::string id, std::string what, Facts facts = Facts::object()) {
  return {std::move(id), Status::skipped, std::move(what), "", "", std::move(facts)};
}

// What follows from a cause: the three sentences.
struct Advice {
  std::string what, why, fix;
};
inline Check warned(std::string id, Advice advice, Facts facts = Facts::object()) {
  return {std::move(id),         Status::warn,          std::move(advice.what),
          std::move(advice.why), std::move(advice.fix), std::move(facts)};
}
inline Check failed(std::string id, Advice advice, Facts facts = Facts::object()) {
  Check check = warned(std::move(id), std::move(advice), std::move(facts));
  check.status = Status::fail;
  return check;
}

// Runs a check; what it throws is a failure of that check.
template <class Function>
Check attempt(const std::string& id, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    return failed(id, {error.what(), error.why(), error.fix()}, {{"code", error.code()}});
  } catch (const std::exception& error) {
    return failed(
        id, {"this could not be looked at", error.what(), "correct what it names, then try `labrig doctor` again"});
  }
}

// Whether labrig works on this machine.
bool fit(const std::vector<Check>& checks);

}  // namespace labrig::doctor
