// Stands where NVIDIA's libnvidia-ml.so.1 would; its one card is the one of cuda.cpp, in the state that the test asks
// for.
#include <cstdlib>
#include <cstring>

namespace {
int asked_for(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : 0;
}
}  // namespace

extern "C" {
int nvmlInit_v2() { return asked_for("FAKE_NVML_INIT"); }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** handle) {
  static int card = 0;
  *handle = &card;
  return asked_for("FAKE_NVML_CARD");
}
int nvmlDeviceGetUUID(void*, char* text, unsigned length) {
  std::strncpy(text, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f", length);
  return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* pending) {
  *now = *pending = static_cast<unsigned>(asked_for("FAKE_NVML_MIG"));
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned, void**) { return 6; }
}
