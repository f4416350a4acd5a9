// The cuda backend of a build without CUDA: it says how to get one.
#include "device/backend.hpp"

namespace labrig {
namespace {

Error no_cuda() {
  return Error(
      "no-cuda", "Torch not compiled with CUDA enabled",
      "this build of labrig has no cuda backend: there was no CUDA toolkit when it was configured, or it was "
      "configured with LABRIG_CUDA=OFF",
      "install the CUDA toolkit and configure again with -DLABRIG_CUDA=ON, or use the simulated card, \"sim\"");
}

}  // namespace

Result<int> cuda_device_count() { return no_cuda(); }
Result<std::unique_ptr<Backend>> make_cuda_backend(int) { return no_cuda(); }

}  // namespace labrig
