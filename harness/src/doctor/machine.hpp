// What gradings take of a machine: memory, processors, a locale, and the means to keep a submission to itself.
#pragma once

#include <cstdint>
#include <string>

#include "doctor/check.hpp"
#include "doctor/host.hpp"

namespace labrig::doctor {

// What is available, within the limit of the control group; the check `memory`.
Check memory_check(const Host& host);
// Those that this process may use, within the quota of the control group; the check `cores`.
Check cores_check(const Host& host, int usable);
int usable_cores();

struct LocaleFacts {
  std::string asked;  // LC_ALL, LC_CTYPE or LANG
  bool installed = true;
  bool utf8 = true;
};
LocaleFacts locale_facts(const Host& host);
Check locale_check(const LocaleFacts& facts);

struct ConfinementFacts {
  bool seccomp = true;     // filters are to be had
  bool root = false;       // this process is
  std::string run_as;      // LABRIG_RUN_AS
  bool user_known = true;  // there is such a user
  bool setpriv = true;     // /usr/bin/setpriv is there
};
ConfinementFacts confinement_facts(const Host& host);
Check confinement_check(const ConfinementFacts& facts);

}  // namespace labrig::doctor
