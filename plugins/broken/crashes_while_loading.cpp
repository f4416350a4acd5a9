// Crashes in the constructor of a global object.
#include <csignal>

#include "broken.hpp"

static const struct Crashes {
  Crashes() { raise(SIGSEGV); }
} crashes;

LABRIG_SUBMISSION(broken::Scale)
