// Speaks a version of the plugin contract that this labrig does not know.
#include "broken.hpp"

BROKEN_MANIFEST_TEXT("labrig-plugin=1\nkind=submission\nlab=scale\nabi=2.0\nbuild=any\ncompiler=any\n")
BROKEN_ENTRY(broken::Scale, [](labrig_plugin_v1& entry) { entry.abi_major = 2; })
