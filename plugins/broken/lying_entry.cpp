// The manifest promises the right build, the entry another one.
#include "broken.hpp"

BROKEN_MANIFEST(scale::Submission)
BROKEN_ENTRY(broken::Scale,
             [](labrig_plugin_v1& entry) { entry.build_tag = "x86_64 libstdc++-old sanitizer-none headers-0"; })
