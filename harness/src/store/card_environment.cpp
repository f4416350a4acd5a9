#include "store/card_environment.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "labrig/device.hpp"
#include "labrig/error.hpp"

namespace labrig::store {
namespace fs = std::filesystem;

CardFacts card_facts(bool backend) {
  CardFacts facts;
  facts.backend = backend;
  facts.cards = device_count(DeviceType::cuda);
  if (facts.cards == 0) {
    try {
      resolve(Device(DeviceType::cuda, 0));
    } catch (const Error& error) {
      facts.why_none = error.why();
    }
  }
  std::ifstream version("/proc/driver/nvidia/version");
  std::getline(version, facts.driver);
  std::error_code ignored;
  while (fs::exists("/dev/nvidia" + std::to_string(facts.nodes), ignored)) ++facts.nodes;
  facts.container = fs::exists("/.dockerenv", ignored) || fs::exists("/run/.containerenv", ignored);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  facts.visible_set = visible != nullptr;
  if (visible != nullptr) facts.visible = visible;
  return facts;
}

CardAdvice card_advice(const CardFacts& facts) {
  if (facts.cards > 0) return {};
  if (facts.visible_set && (facts.visible.empty() || facts.visible == "-1") && facts.nodes > 0)
    return {"CUDA_VISIBLE_DEVICES hides every card of this machine",
            "unset it, or name cards by their numbers: CUDA_VISIBLE_DEVICES=0"};
  if (facts.nodes > 0 && !facts.backend)
    return {"there is a card, and this labrig was built without CUDA",
            "install the CUDA toolkit and build again: make build CUDA=ON"};
  if (!facts.driver.empty() && facts.nodes == 0 && facts.container)
    return {"the driver is loaded, but this container has no card",
            "start the container with its cards: docker run --gpus all, or podman run --device nvidia.com/gpu=all"};
  if (!facts.driver.empty() && facts.nodes == 0)
    return {"the driver is loaded, but there is no /dev/nvidia0",
            "run nvidia-smi once as root: it makes the device files; then look into the kernel's log"};
  if (facts.nodes > 0 && facts.driver.empty())
    return {"there are device files of a card, but no driver is loaded",
            "load the driver on the machine itself (modprobe nvidia), or install it"};
  if (facts.nodes > 0)
    return {"there is a card, and CUDA cannot use it: " + facts.why_none,
            "compare the version in nvidia-smi's head line with the toolkit's (nvcc --version): a driver that is older "
            "than the runtime must be updated"};
  return {};
}

}  // namespace labrig::store
