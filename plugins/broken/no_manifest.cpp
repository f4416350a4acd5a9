// A shared library that is no plugin: it has the entry symbol, but no manifest.
extern "C" __attribute__((visibility("default"))) const int labrig_plugin;
const int labrig_plugin = 1;
