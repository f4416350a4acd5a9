// What a device can compute with, to be asked before it is tried. Read next: dtype.hpp (the types), device.hpp.
#pragma once

#include "labrig/device.hpp"
#include "labrig/export.hpp"

namespace labrig {

// Whether kernels compute in bf16 there, as torch.cuda.is_bf16_supported(): on the host, and on cards from compute
// capability 8.0 on. Other cards store bf16 and refuse to compute with it (`no-bf16`).
LABRIG_API bool is_bf16_supported(Device device);

}  // namespace labrig
