// Who runs what students wrote. Where labrig is root, as in an autograder's container, LABRIG_RUN_AS names a user who
// may read neither secrets nor hidden sizes: the compiler and the workers run as that user, all else as root.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace labrig::build {

struct LesserUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};

// Nothing when the variable is not set or this process is not root. Throws Error `no-such-user`.
std::optional<LesserUser> lesser_user();

// The command as that user runs it: through setpriv, without root's groups, and without a way back. As it is when there
// is no such user.
std::vector<std::string> as_lesser_user(std::vector<std::string> command);

}  // namespace labrig::build
