// What PyTorch says to each mistake, recorded, against what the core says:
//
//   {"mm_shape": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x4 and 3x4)", "…_ok": "no error", …}
//
// The class of the exception in front is left away. Texts must be equal but for device names (what PyTorch calls cuda
// is sim on a simulated card; the list of device types in bad_device is each one's own), amounts of memory in an
// out-of-memory error, and the advice that ends every error of CUDA.
#pragma once

#include "conform/kinds.hpp"

namespace labrig::conform {

// Throws `bad-file` when the document is not of this form, or has no mistake that is known here.
Outcome errors(const JsonFile& file, Device device);

}  // namespace labrig::conform
