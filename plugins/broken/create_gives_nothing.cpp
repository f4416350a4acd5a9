// Its create() returns a null pointer.
#include "broken.hpp"

BROKEN_MANIFEST(scale::Submission)
BROKEN_ENTRY(broken::Scale, [](labrig_plugin_v1& entry) { entry.create = []() -> void* { return nullptr; }; })
