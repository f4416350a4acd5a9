// Its describe() returns a null pointer.
#include "broken.hpp"

BROKEN_MANIFEST(scale::Submission)
BROKEN_ENTRY(broken::Scale, [](labrig_plugin_v1& entry) { entry.describe = []() -> const char* { return nullptr; }; })
