#include "doctor/card_facts.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "labrig/device.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"

namespace labrig::doctor {
namespace fs = std::filesystem;
namespace {

constexpr char kNvidia[] = "0x10de", kDisplayClass[] = "0x03";

void add_node(const Host& host, const std::string& path, std::vector<CardNode>& nodes) {
  if (!host.exists(path)) return;
  CardNode node{path, 0, ""};
  const int descriptor = ::open(host.at(path).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    node.problem = errno;
  else
    ::close(descriptor);
  struct stat facts{};
  if (::stat(host.at(path).c_str(), &facts) == 0)
    if (const group* entry = ::getgrgid(facts.st_gid); entry != nullptr) node.group = entry->gr_name;
  nodes.push_back(node);
}

std::vector<CardNode> nodes_of(const Host& host) {
  constexpr int kMostCards = 64;
  std::vector<CardNode> nodes;
  for (int i = 0; i < kMostCards; ++i) add_node(host, "/dev/nvidia" + std::to_string(i), nodes);
  add_node(host, "/dev/nvidiactl", nodes);
  add_node(host, "/dev/nvidia-uvm", nodes);
  return nodes;
}

int physical_cards(const Host& host) {
  std::error_code ignored;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(host.at("/sys/bus/pci/devices"), ignored)) {
    const std::string device = "/sys/bus/pci/devices/" + entry.path().filename().string();
    count +=
        host.read(device + "/vendor").starts_with(kNvidia) && host.read(device + "/class").starts_with(kDisplayClass);
  }
  return count;
}

void ask_core(CardFacts& facts) {
  facts.cards = device_count(DeviceType::cuda);
  if (facts.cards > 0) return;
  try {
    resolve(Device(DeviceType::cuda, 0));
  } catch (const Error& error) {
    facts.why_none = error.why();
    facts.fix_none = error.fix();
  }
}

// A small sum on each card: what is wrong with a card shows when it is used, not when it is counted.
void open_cards(CardFacts& facts) {
  for (int i = 0; i < facts.cards; ++i) {
    const Device device(DeviceType::cuda, i);
    try {
      static_cast<void>(labrig::sum(ones({4, 4}, device)).item());
      const MemoryInfo memory = mem_get_info(device);
      facts.memory.push_back(
          {device.str(), memory.free_bytes, memory.total_bytes, static_cast<std::uint64_t>(::getpid()), {}, {}});
    } catch (const Error& error) {
      facts.unusable.push_back({device.str(), std::string(error.what()) + ": " + error.why(), error.fix()});
    }
  }
}

void compare_memory(CardFacts& facts, const Nvml& before) {
  for (MemoryFacts& card : facts.memory) {
    const auto index = static_cast<std::size_t>(std::atoi(card.device.c_str() + std::string("cuda:").size()));
    if (index >= facts.driver.cards.size()) continue;
    const std::string& uuid = facts.driver.cards[index].uuid;
    if (const NvmlCard* then = before.by_uuid(uuid); then != nullptr) card.before = *then;
    if (const NvmlCard* now = facts.nvml.by_uuid(uuid); now != nullptr) card.after = *now;
  }
}

int version_of_build() {
#ifdef LABRIG_CUDA_VERSION
  int major = 0, minor = 0;
  if (std::sscanf(LABRIG_CUDA_VERSION, "%d.%d", &major, &minor) == 2) return 1000 * major + 10 * minor;
#endif
  return 0;
}

}  // namespace

int CardFacts::numbered_nodes() const {
  return static_cast<int>(std::ranges::count_if(
      nodes, [](const CardNode& node) { return node.path.find_first_of("0123456789") != std::string::npos; }));
}

bool CardFacts::sign_of_a_card() const {
  return numbered_nodes() > 0 || physical > 0 || windows_card || !versions.module.empty() || !nvml.cards.empty() ||
         !driver.cards.empty() || cards > 0;
}

CardFacts card_facts(const Host& host, bool backend) {
  CardFacts facts;
  facts.backend = backend;
  facts.around = surroundings(host);
  facts.visible = host.variable("CUDA_VISIBLE_DEVICES");
  facts.nodes = nodes_of(host);
  facts.physical = physical_cards(host);
  facts.nouveau = host.exists("/sys/module/nouveau");
  facts.windows_card = host.exists("/dev/dxg");
  const Nvml before = ask_nvml();
  ask_core(facts);
  open_cards(facts);
  facts.driver = ask_driver();
  facts.nvml = ask_nvml();
  compare_memory(facts, before);
  const int loaded = loaded_runtime_version();
  facts.versions = {facts.driver.version,
                    !backend      ? 0
                    : loaded != 0 ? loaded
                                  : version_of_build(),
                    module_version(host.read("/proc/driver/nvidia/version")), facts.driver.file};
  return facts;
}

}  // namespace labrig::doctor
