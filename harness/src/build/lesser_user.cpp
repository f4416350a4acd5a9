#include "build/lesser_user.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "labrig/error.hpp"

namespace labrig::build {

std::optional<LesserUser> lesser_user() {
  const char* name = std::getenv("LABRIG_RUN_AS");
  if (name == nullptr || *name == '\0' || ::geteuid() != 0) return std::nullopt;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> texts(16384);
  ::getpwnam_r(name, &entry, texts.data(), texts.size(), &found);
  if (found == nullptr || found->pw_uid == 0)
    throw Error("no-such-user", std::string("submissions cannot run as '") + name + "'",
                found == nullptr ? "LABRIG_RUN_AS names it, and there is no such user" : "that is root",
                "make a user for them (useradd --system NAME), or unset LABRIG_RUN_AS");
  return LesserUser{name, found->pw_uid, found->pw_gid};
}

std::vector<std::string> as_lesser_user(std::vector<std::string> command) {
  const std::optional<LesserUser> user = lesser_user();
  if (!user) return command;
  // setpriv drops what makes a child end with its parent, and can set it again.
  std::vector<std::string> whole = {"/usr/bin/setpriv",
                                    "--reuid=" + std::to_string(user->uid),
                                    "--regid=" + std::to_string(user->gid),
                                    "--clear-groups",
                                    "--no-new-privs",
                                    "--inh-caps=-all",
                                    "--pdeathsig=KILL",
                                    "--"};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

}  // namespace labrig::build
