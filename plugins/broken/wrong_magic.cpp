// The entry does not begin as it must.
#include "broken.hpp"

BROKEN_MANIFEST(scale::Submission)
BROKEN_ENTRY(broken::Scale, [](labrig_plugin_v1& entry) { entry.magic[0] = 'l'; })
