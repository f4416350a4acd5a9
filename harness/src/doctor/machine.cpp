#include "doctor/machine.hpp"

#include <fmt/format.h>
#include <langinfo.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pwd.h>
#include <sched.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

namespace labrig::doctor {
namespace {

std::optional<std::int64_t> number_in(const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return end == text.c_str() ? std::nullopt : std::optional<std::int64_t>(value);
}

// This process's folder below /sys/fs/cgroup: version 2 has one ("0::/a/b"), version 1 one for each controller. In a
// container the group is most often the root of what can be seen, whatever its path is called outside.
std::string in_group(const Host& host, const std::string& controller, const std::string& file) {
  std::istringstream lines(host.read("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string name = line.substr(first + 1, second - first - 1);
    if (name != controller) continue;
    const std::string base = "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + controller);
    for (const std::string& folder : {base + line.substr(second + 1), base})
      if (const std::string text = host.read(folder + "/" + file); !text.empty()) return text;
  }
  return "";
}

std::optional<std::int64_t> group_memory_left(const Host& host) {
  const auto limit2 = number_in(in_group(host, "", "memory.max")),
             used2 = number_in(in_group(host, "", "memory.current"));
  if (limit2 && used2) return *limit2 - *used2;
  const auto limit1 = number_in(in_group(host, "memory", "memory.limit_in_bytes"));
  const auto used1 = number_in(in_group(host, "memory", "memory.usage_in_bytes"));
  if (limit1 && used1) return *limit1 - *used1;
  return std::nullopt;
}

// Processors that the quota pays for; nothing without a quota ("max 100000").
std::optional<double> group_cores(const Host& host) {
  std::istringstream words(in_group(host, "", "cpu.max"));
  double quota = 0, period = 0;
  if (words >> quota >> period && period > 0) return quota / period;
  const auto quota1 = number_in(in_group(host, "cpu", "cpu.cfs_quota_us")),
             period1 = number_in(in_group(host, "cpu", "cpu.cfs_period_us"));
  if (quota1 && period1 && *quota1 > 0 && *period1 > 0)
    return static_cast<double>(*quota1) / static_cast<double>(*period1);
  return std::nullopt;
}

}  // namespace

Check memory_check(const Host& host) {
  constexpr std::int64_t kEnough = 2048, kLeast = 512;
  std::istringstream lines(host.read("/proc/meminfo"));
  std::optional<std::int64_t> available;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("MemAvailable:")) available = number_in(line.substr(13)).value_or(0) / 1024;
  if (!available) return skipped("memory", "/proc/meminfo does not say how much is available");
  const auto left = group_memory_left(host);
  const bool limited = left && *left / (1 << 20) < *available;
  const std::int64_t mib = limited ? *left / (1 << 20) : *available;
  const Facts facts = {{"available_mib", mib}, {"limited_by", limited ? "control group" : "machine"}};
  const std::string text = fmt::format("{} MiB available{}", mib, limited ? ", by the control group's limit" : "");
  if (mib >= kEnough) return passed("memory", text, facts);
  const Advice advice = {text, "compiling and grading side by side want 2048 MiB",
                         limited ? "give the container or job more: `docker run --memory 4g`, `srun --mem=4G`"
                                 : "end other programs (`ps aux --sort=-rss | head` lists the largest)"};
  return mib < kLeast ? failed("memory", advice, facts) : warned("memory", advice, facts);
}

int usable_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

Check cores_check(const Host& host, int usable) {
  const auto quota = group_cores(host);
  const bool limited = quota && *quota < usable;
  const double cores = limited ? *quota : usable;
  const Facts facts = {{"usable", cores}, {"limited_by", limited ? "control group" : "machine"}};
  const std::string text = fmt::format("{:.3g}{}", cores, limited ? ", by the control group's limit" : "");
  if (cores >= 2) return passed("cores", text, facts);
  return warned("cores",
                {text, "the worker and the simulated card take turns, so a grading takes twice as long",
                 limited ? "give the container or job two: `docker run --cpus 2`, `srun --cpus-per-task=2`"
                         : "nothing must be done: the grade is the same. `taskset -cp $$` shows whether this shell was "
                           "kept to one core"},
                facts);
}

LocaleFacts locale_facts(const Host& host) {
  LocaleFacts facts;
  for (const char* name : {"LANG", "LC_CTYPE", "LC_ALL"})
    if (const std::string value = host.value(name); !value.empty()) facts.asked = value;
  if (facts.asked.empty()) facts.asked = "C";
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, facts.asked.c_str(), nullptr);
  facts.installed = locale != nullptr;
  if (locale == nullptr) return facts;
  facts.utf8 = ::strcasecmp(::nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
  ::freelocale(locale);
  return facts;
}

Check locale_check(const LocaleFacts& facts) {
  const Facts told = {{"locale", facts.asked}, {"installed", facts.installed}, {"utf8", facts.utf8}};
  const char* fix = "`export LC_ALL=C.UTF-8`, which every Debian and Ubuntu has";
  if (!facts.installed)
    return warned("locale",
                  {"the locale " + facts.asked + " is not installed",
                   "compilers, Python and editors then fall back to plain ASCII, with a warning", fix},
                  told);
  if (!facts.utf8)
    return warned("locale",
                  {facts.asked + " does not write UTF-8",
                   "labrig does; other characters than English letters may look wrong here", fix},
                  told);
  return passed("locale", facts.asked, told);
}

ConfinementFacts confinement_facts(const Host& host) {
  ConfinementFacts facts;
  const unsigned action = SECCOMP_RET_ERRNO;
  facts.seccomp = ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  facts.root = ::geteuid() == 0;
  facts.run_as = host.value("LABRIG_RUN_AS");
  facts.user_known = facts.run_as.empty() || ::getpwnam(facts.run_as.c_str()) != nullptr;
  facts.setpriv = host.exists("/usr/bin/setpriv");
  return facts;
}

Check confinement_check(const ConfinementFacts& facts) {
  const std::string id = "confinement", user = facts.run_as;
  const bool lesser = facts.root && !user.empty();
  const Facts told = {{"seccomp", facts.seccomp},
                      {"root", facts.root},
                      {"run_as", user.empty() ? Facts() : Facts(user)},
                      {"setpriv", facts.setpriv}};
  if (lesser && !facts.user_known)
    return failed(id,
                  {"there is no user " + user, "LABRIG_RUN_AS names who runs submissions",
                   fmt::format("`sudo useradd --system {}`, or name another: `export LABRIG_RUN_AS=nobody`", user)},
                  told);
  if (lesser && !facts.setpriv)
    return failed(id,
                  {"/usr/bin/setpriv is not there", "LABRIG_RUN_AS needs it to run submissions as another user",
                   "`apt-get install util-linux`"},
                  told);
  if (!facts.seccomp)
    return warned(
        id,
        {"this kernel has no seccomp filters", "a submission could then end or watch the processes that judge it",
         "grade strangers' work on a kernel with CONFIG_SECCOMP_FILTER: `grep SECCOMP /boot/config-$(uname -r)`"},
        told);
  if (!user.empty() && !facts.root)
    return warned(id,
                  {"LABRIG_RUN_AS=" + user + " has no effect", "only root can run submissions as another user",
                   "`unset LABRIG_RUN_AS`, or start labrig as root"},
                  told);
  if (facts.root && user.empty())
    return warned(id,
                  {"submissions run as root", "what strangers wrote could read and change all of this machine",
                   "for others' work: `export LABRIG_RUN_AS=nobody XDG_CACHE_HOME=/var/cache/labrig`"},
                  told);
  return passed(
      id,
      lesser ? "submissions run as " + user + " and cannot signal others" : "submissions cannot signal other processes",
      told);
}

}  // namespace labrig::doctor
