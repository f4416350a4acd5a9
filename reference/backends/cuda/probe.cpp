// Is there a card, and if not, why? Each way in which there is none has its own error, because each has its own remedy.
// Also the door through which labrig-core comes in (entry.hpp).
#include "backend.hpp"
#include "entry.hpp"
#include "labrig/header_hash.h"

namespace labrig::cuda {
namespace {

constexpr char kNoDevice[] = "cannot use a cuda device";

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The runtime gives one code for "no driver" and "driver too old"; the driver's version tells them apart.
Error driver_unfit() {
  int driver = 0, runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  if (driver == 0)
    return {"no-driver", kNoDevice, "there is no NVIDIA driver on this machine, or this container was not given it",
            "install NVIDIA's driver, start the container with --gpus all, or use device `sim` or `cpu`"};
  return {"driver-too-old", kNoDevice,
          "the driver supports CUDA up to " + version_text(driver) + ", but labrig was built with CUDA " +
              version_text(runtime),
          "update the driver, or build labrig with CUDA " + version_text(driver)};
}

Error no_card() {
  return {"no-card", kNoDevice, "the NVIDIA driver is there, but it shows this process no card",
          "check `nvidia-smi` and that CUDA_VISIBLE_DEVICES does not hide the card, or use device `sim` or `cpu`"};
}

Error unreachable(cudaError_t code) {
  return {"card-unreachable", kNoDevice,
          std::string("the driver refuses: ") + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")",
          "run `nvidia-smi`; if it fails too, the driver or the machine needs a restart"};
}

Result<int> device_count() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess) return count > 0 ? Result<int>(count) : Result<int>(no_card());
  static_cast<void>(cudaGetLastError());
  if (code == cudaErrorInsufficientDriver) return driver_unfit();
  if (code == cudaErrorNoDevice) return no_card();
  return unreachable(code);
}

Error no_such_card(int index, int count) {
  const std::string cards =
      count == 1 ? "one card, cuda:0" : std::to_string(count) + " cards, cuda:0 to cuda:" + std::to_string(count - 1);
  return {"invalid-device",
          "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?",
          "cuda:" + std::to_string(index) + " was asked for, and this process sees " + cards,
          "use a number that is there; CUDA_VISIBLE_DEVICES may hide or renumber cards"};
}

Result<std::unique_ptr<Backend>> make_backend(int index) {
  const Result<int> count = device_count();
  if (!count) return count.error();
  if (index < 0 || index >= count.value()) return no_such_card(index, count.value());
  try {
    return Result<std::unique_ptr<Backend>>(std::make_unique<CudaBackend>(index));
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace
}  // namespace labrig::cuda

extern "C" LABRIG_API const labrig::cuda::Entry* labrig_cuda_entry() {
  static const labrig::cuda::Entry entry{LABRIG_VERSION " " LABRIG_HEADER_HASH, labrig::cuda::device_count,
                                         labrig::cuda::make_backend};
  return &entry;
}
