// Its init() says that it is not ready, and why.
#include "broken.hpp"

BROKEN_MANIFEST(scale::Submission)
BROKEN_ENTRY(broken::Scale, [](labrig_plugin_v1& entry) {
  entry.init = []() -> int { return 7; };
  entry.describe = []() -> const char* { return "the table of factors is not there"; };
})
