// A manifest that was not written by labrig's macros.
#include "broken.hpp"

BROKEN_MANIFEST_TEXT("labrig-plugin=1\nkind=submission\n")
BROKEN_ENTRY(broken::Scale, [](labrig_plugin_v1&) {})
