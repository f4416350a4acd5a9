// CUDA's errors that tell of a machine rather than of a program.
#include <array>

#include "doctor/card_cause.hpp"

namespace labrig::doctor {
namespace {

struct Code {
  int number;
  const char* name;  // as the runtime writes it
  const char *id, *what, *why, *fix;
};

constexpr Code kCodes[] = {
    {2, "cudaErrorMemoryAllocation", "card-full", "the card has no memory left, not even to be opened",
     "other processes hold it",
     "end one of them (`nvidia-smi` lists them), or choose another card: "
     "`export CUDA_VISIBLE_DEVICES=1`"},
    {34, "cudaErrorStubLibrary", "stub-library", "the toolkit's stub stands where the driver's library should",
     "a folder `stubs` is in LD_LIBRARY_PATH; the libcuda.so there is for linking only",
     "take it out: `echo $LD_LIBRARY_PATH`, then set the variable without the folder that ends in /stubs"},
    {46, "cudaErrorDevicesUnavailable", "card-in-use", "the card is busy: another process holds it for itself alone",
     "its compute mode lets one process in at a time, or none",
     "wait until that process ends (`nvidia-smi` lists it), or let cards be shared: `sudo nvidia-smi "
     "--compute-mode=0`"},
    {209, "cudaErrorNoKernelImageForDevice", "no-code-for-card", "labrig's kernels were not compiled for this card",
     "this labrig was built for other generations of cards",
     "build it here: `cmake -B build -DCMAKE_CUDA_ARCHITECTURES=native && cmake --build build`"},
    {214, "cudaErrorECCUncorrectable", "memory-error", "the card's memory has an error that cannot be corrected",
     "until it is reset the card refuses work; if it comes back, the card is failing",
     "`sudo nvidia-smi --gpu-reset`, or restart; `nvidia-smi -q -d ECC,ROW_REMAPPER` shows whether it must be "
     "replaced"},
    {802, "cudaErrorSystemNotReady", "fabric-manager", "the cards' switch is not set up yet",
     "on machines with NVSwitch CUDA waits for the fabric manager",
     "`sudo systemctl enable --now nvidia-fabricmanager`; its version must be the driver's"},
    {803, "cudaErrorSystemDriverMismatch", "driver-mismatch", "the driver's library and its kernel part differ",
     "the driver was updated and the old one is still loaded, or a container brings another driver's library",
     "restart the machine: `sudo reboot`; in a container leave libcuda.so out of the image"},
    {804, "cudaErrorCompatNotSupportedOnDevice", "no-forward-compatibility",
     "the CUDA compatibility package does not serve this card",
     "it lets a newer CUDA run on an older driver on servers' cards only",
     "take its folder, which ends in /compat, out of the variable (`echo $LD_LIBRARY_PATH`), and update the driver"},
    {805, "cudaErrorMpsConnectionFailed", "mps", "the MPS server does not answer",
     "the card is shared through NVIDIA's MPS, and its daemon is not running for this user",
     "start it: `nvidia-cuda-mps-control -d`, or do without: `unset CUDA_MPS_PIPE_DIRECTORY`"},
    {999, "cudaErrorUnknown", "driver-unwell", "the driver has failed in a way that it cannot name",
     "most often a laptop was asleep, and the driver's memory part did not wake up",
     "`sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm`; if it fails still, restart the machine"},
};

// Other names and numbers for the same.
constexpr struct {
  int number;
  const char* name;
  int same_as;
} kAliases[] = {{54, "cudaErrorDeviceAlreadyInUse", 46},
                {806, "cudaErrorMpsRpcFailure", 805},
                {807, "cudaErrorMpsServerNotReady", 805}};

}  // namespace

CardCause cause_of_code(int number) {
  for (const auto& alias : kAliases)
    if (alias.number == number) number = alias.same_as;
  for (const Code& code : kCodes)
    if (code.number == number) return {code.id, {code.what, code.why, code.fix}};
  return {};
}

int code_named_in(const std::string& message) {
  for (const Code& code : kCodes)
    if (message.find(code.name) != std::string::npos) return code.number;
  for (const auto& alias : kAliases)
    if (message.find(alias.name) != std::string::npos) return alias.number;
  return 0;
}

}  // namespace labrig::doctor
