// What a device can compute with, as its backend says it.
#include "labrig/capability.hpp"

#include "device/backend.hpp"

namespace labrig {

bool is_bf16_supported(Device device) { return backend_of(device).lacks_bf16().empty(); }

}  // namespace labrig
