// Stands where NVIDIA's libcuda.so.1 would: one card, in the state that the test asks for by variables. Only what
// `labrig doctor` asks; whoever wants more finds a driver that does not know it.
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {
int asked_for(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : otherwise;
}
}  // namespace

extern "C" {
int cuInit(unsigned) { return asked_for("FAKE_CUDA_INIT", 0); }
int cuDriverGetVersion(int* version) {
  *version = asked_for("FAKE_CUDA_VERSION", 99000);
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "Fake Card", static_cast<std::size_t>(length));
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{8} << 30;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 8 : attribute == 76 ? 6 : 28;
  return 0;
}
int cuDeviceGetUuid(unsigned char* bytes, int) {
  for (unsigned char i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(0x10 + i);
  return 0;
}
}
