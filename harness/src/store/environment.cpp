#include "store/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <cmath>
#include <ctime>
#include <fstream>

#include "labrig/device.hpp"
#include "labrig/plugin.hpp"
#include "spec/plan.hpp"
#include "store/digest.hpp"

namespace labrig::store {

using Json = nlohmann::ordered_json;

namespace {

// The value of a line "key<between>value" of a file of /proc or /etc.
std::string value_in(const char* file, const std::string& key, char between) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(between);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    const std::size_t first = value.find_first_not_of(" \t\"");
    const std::size_t last = value.find_last_not_of(" \t\"");
    return first == std::string::npos ? "" : value.substr(first, last - first + 1);
  }
  return "";
}

int usable_cpus() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::string os_text() {
  utsname name{};
  ::uname(&name);
  const std::string pretty = value_in("/etc/os-release", "PRETTY_NAME", '=');
  return fmt::format("{}, {} {}", pretty.empty() ? "Linux" : pretty, name.sysname, name.release);
}

std::string cpu_text() {
  const std::string model = value_in("/proc/cpuinfo", "model name", ':');
  const int count = usable_cpus();
  return fmt::format("{}, {} {}", model.empty() ? "unknown processor" : model, count, count == 1 ? "core" : "cores");
}

double to_tenth(double milliseconds) { return std::round(milliseconds * 10) / 10; }

}  // namespace

std::string secret_id(const std::string& secret) {
  return secret == spec::kPublicSecret ? "public" : sha256_hex("labrig secret id\n" + secret).substr(0, 12);
}

Json environment(const RunFacts& facts, std::span<const grade::CaseOutcome> cases) {
  const bool card = device_count(DeviceType::cuda) > 0;
  Json json = {{"labrig", LABRIG_VERSION},
               {"build_tag", plugin::kBuildTag},
               {"compiler", plugin::kCompiler},
               {"os", os_text()},
               {"cpu", cpu_text()},
               {"cuda", card ? Json(describe(Device(DeviceType::cuda, 0))) : Json(nullptr)},
               {"secret", secret_id(facts.secret)},
               {"generated_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
               {"wall_ms", to_tenth(facts.wall_ms)},
               {"cases", Json::array()},
               {"notes", facts.notes}};
  for (const grade::CaseOutcome& outcome : cases)
    json["cases"].push_back(
        {{"id", outcome.plan.id}, {"cpu_ms", to_tenth(outcome.cpu_ms)}, {"wall_ms", to_tenth(outcome.wall_ms)}});
  return json;
}

}  // namespace labrig::store
