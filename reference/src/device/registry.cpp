// The registry of devices: which are open, how each is opened, and what is said when one is not there.
#include "device/registry.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

namespace labrig {
namespace {

using Slots = std::vector<std::shared_ptr<DeviceSlot>>;

struct Registry {
  std::recursive_mutex mutex;  // opening the automatic machine attaches its cards
  std::shared_ptr<DeviceSlot> cpu;
  Slots sim, cuda;
  std::shared_ptr<DeviceSlot> cuda_first;  // the cuda device that was opened first
  std::optional<Error> sim_failure;        // why the automatic machine did not start; it is not tried again
  std::optional<Result<int>> cuda_count;
  std::atomic<std::uint64_t> machine{0};
  std::atomic<Backend*> sim_clock{nullptr};
};

// Never destroyed: tensors with static lifetime may be the last to ask.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

std::string text(int value) { return std::to_string(value); }

Error no_such_card(Device device, int count) {
  const std::string type = name_of(device.type());
  const std::string last = count == 1 ? type + ":0" : type + ":0 to " + type + ":" + text(count - 1);
  return Error("invalid-device",
               "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?",
               "this process has " + text(count) + " device(s) of type " + type + ", " + last + "; " + device.str() +
                   " was asked for",
               "use a number in that range, or just \"" + type + "\" for the current one");
}

// The cards of the simulated machine; starts the automatic one. The registry is locked.
const Slots& sim_slots(Registry& state) {
  if (!state.sim.empty()) return state.sim;
  if (state.sim_failure) throw *state.sim_failure;
  try {
    attach_sim_backends(make_default_sim_backends());
    if (state.sim.empty()) {
      throw Error("invalid-device", "the simulated machine has no card", "its profile names none",
                  "choose a profile with LABRIG_SIM_PROFILE");
    }
  } catch (const Error& reason) {
    state.sim_failure = Error("invalid-device", "no simulated card could be started",
                              reason.what() + (": " + reason.why()), reason.fix());
    throw *state.sim_failure;
  }
  // Its thread must not outlive main; tensors that do are harmless.
  static const struct AtExit {
    ~AtExit() { detach_sim_backends(); }
  } at_exit;
  return state.sim;
}

const Result<int>& cuda_count(Registry& state) {
  if (!state.cuda_count) state.cuda_count = cuda_device_count();
  return *state.cuda_count;
}

std::shared_ptr<DeviceSlot> sim_slot(Registry& state, Device device) {
  const Slots& slots = sim_slots(state);
  const auto index = static_cast<std::size_t>(device.index());
  if (index >= slots.size()) throw no_such_card(device, static_cast<int>(slots.size()));
  return slots[index];
}

std::shared_ptr<DeviceSlot> cuda_slot(Registry& state, Device device) {
  const Result<int>& count = cuda_count(state);
  if (!count || count.value() == 0) {
    const bool none = count.ok();
    throw Error("invalid-device", "No CUDA GPUs are available",
                none ? "the driver sees no card" : count.error().what() + (": " + count.error().why()),
                none ? "check CUDA_VISIBLE_DEVICES and nvidia-smi, or use \"sim\" or \"cpu\"" : count.error().fix());
  }
  const auto index = static_cast<std::size_t>(device.index());
  if (device.index() >= count.value()) throw no_such_card(device, count.value());
  if (state.cuda.size() <= index) state.cuda.resize(index + 1);
  if (!state.cuda[index]) {
    state.cuda[index] = std::make_shared<DeviceSlot>(std::move(make_cuda_backend(device.index())).value());
    if (!state.cuda_first) state.cuda_first = state.cuda[index];
  }
  return state.cuda[index];
}

void close_all(Slots& slots) {
  for (const auto& slot : slots) slot->close();
  slots.clear();
}

}  // namespace

std::shared_ptr<DeviceSlot> slot_of(Device device) {
  if (!device.is_cpu() && !device.has_index()) device = Device(device.type(), current_device(device.type()));
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  if (device.type() == DeviceType::sim) return sim_slot(state, device);
  if (device.type() == DeviceType::cuda) return cuda_slot(state, device);
  if (!state.cpu) state.cpu = std::make_shared<DeviceSlot>(make_cpu_backend());
  return state.cpu;
}

std::shared_ptr<DeviceSlot> open_slot(Device device) {
  if (!device.is_cpu() && !device.has_index()) device = Device(device.type(), current_device(device.type()));
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  if (device.is_cpu()) return state.cpu;
  const Slots& slots = device.type() == DeviceType::sim ? state.sim : state.cuda;
  const auto index = static_cast<std::size_t>(device.index());
  return index < slots.size() ? slots[index] : nullptr;
}

std::shared_ptr<DeviceSlot> slot_for_pinning() {
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  const char* forced = std::getenv("LABRIG_DEVICE");
  if (forced && *forced && !Device(forced).is_cpu()) return pinning_slot(slot_of(Device(forced))->device().type());
  if (!state.sim.empty()) return state.sim[0];
  if (device_count(DeviceType::cuda) > 0) return pinning_slot(DeviceType::cuda);
  try {
    return pinning_slot(DeviceType::sim);
  } catch (const Error& reason) {
    throw Error("no-card-to-pin-for", "cannot pin memory: no card is found",
                std::string("pinned memory is host memory that a card reaches by itself; ") + reason.what() + ": " +
                    reason.why(),
                "leave the pinning out where there is no card: on the host it changes nothing");
  }
}

std::shared_ptr<DeviceSlot> open_pinning_slot(DeviceType type) {
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  if (type == DeviceType::cuda) return state.cuda_first;
  return type == DeviceType::sim && !state.sim.empty() ? state.sim[0] : nullptr;
}

std::shared_ptr<DeviceSlot> pinning_slot(DeviceType type) {
  if (auto open = open_pinning_slot(type)) return open;
  return slot_of(type == DeviceType::sim ? Device(type, 0) : Device(type));
}

std::uint64_t machine_number() { return registry().machine.load(std::memory_order_relaxed); }

Backend& backend_of(Device device) { return slot_of(device)->backend(); }

void attach_sim_backends(std::vector<std::unique_ptr<Backend>> cards) {
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  detach_sim_backends();
  for (auto& card : cards) state.sim.push_back(std::make_shared<DeviceSlot>(std::move(card)));
  if (!state.sim.empty()) state.sim_clock = &state.sim[0]->backend();
}

void detach_sim_backends() {
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  state.sim_clock = nullptr;
  close_all(state.sim);
  state.sim_failure.reset();
  ++state.machine;
}

Backend* attached_sim_clock() { return registry().sim_clock.load(std::memory_order_acquire); }

int device_count(DeviceType type) {
  if (type == DeviceType::cpu) return 1;
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  if (type == DeviceType::cuda) return cuda_count(state).ok() ? cuda_count(state).value() : 0;
  try {
    return static_cast<int>(sim_slots(state).size());
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace labrig
