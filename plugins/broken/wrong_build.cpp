// Built against other public headers: their hash is another one.
#include "broken.hpp"

BROKEN_MANIFEST_TEXT("labrig-plugin=1\nkind=submission\nlab=scale\nabi=1.0\nbuild=" LABRIG_TAG_ARCHITECTURE
                     " " LABRIG_TAG_LIBRARY " sanitizer-" LABRIG_TAG_SANITIZER
                     " headers-0123456789abcdef\ncompiler=g++ 11.4\n")
BROKEN_ENTRY(broken::Scale, [](labrig_plugin_v1&) {})
