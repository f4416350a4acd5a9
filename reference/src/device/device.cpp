// Device names, the current device of a thread, and the choice of a device for a program.
#include "labrig/device.hpp"

#include <charconv>
#include <cstdlib>

#include "device/registry.hpp"
#include "device/thread_state.hpp"
#include "labrig/error.hpp"

namespace labrig {
namespace {

constexpr DeviceType kTypes[] = {DeviceType::cpu, DeviceType::sim, DeviceType::cuda};

Error invalid_string(std::string what, std::string_view text) {
  return Error("invalid-device-string", std::move(what),
               "a device is \"cpu\", or \"sim\" or \"cuda\" with or without the number of a card; this is \"" +
                   std::string(text) + "\"",
               "write for example \"sim:0\"");
}

}  // namespace

const char* name_of(DeviceType type) {
  static constexpr const char* kNames[] = {"cpu", "sim", "cuda"};
  return kNames[static_cast<int>(type)];
}

Device::Device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  const DeviceType* found = nullptr;
  for (const DeviceType& candidate : kTypes) {
    if (type == name_of(candidate)) found = &candidate;
  }
  if (!found) {
    throw invalid_string("Expected one of cpu, sim, cuda device type at start of device string: " + std::string(type),
                         text);
  }
  type_ = *found;
  if (colon == std::string_view::npos) return;
  const std::string_view digits = text.substr(colon + 1);
  int index = -1;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool whole = problem == std::errc() && end == digits.data() + digits.size();
  if (!whole || index < 0 || index > 127 || digits.size() > 3) {
    throw invalid_string("Invalid device string: '" + std::string(text) + "'", text);
  }
  if (!is_cpu()) index_ = static_cast<std::int16_t>(index);
}

std::string Device::str() const {
  return has_index() ? std::string(name_of(type_)) + ":" + std::to_string(index_) : name_of(type_);
}

Device resolve(Device device) {
  if (device.is_cpu()) return Device{};
  return slot_of(device)->device();
}

ThreadState& thread_state() {
  static thread_local ThreadState state;
  if (const std::uint64_t machine = machine_number(); state.machine != machine) {
    state.machine = machine;
    state.current_device[static_cast<int>(DeviceType::sim)] = 0;
    std::erase_if(state.current_streams, [](const auto& entry) { return entry.device.type() == DeviceType::sim; });
  }
  return state;
}

int current_device(DeviceType type) {
  return type == DeviceType::cpu ? -1 : thread_state().current_device[static_cast<int>(type)];
}

void set_current_device(Device device) {
  if (device.is_cpu() || !device.has_index()) return;  // there is one host, and "sim" is the current card already
  const Device resolved = resolve(device);
  thread_state().current_device[static_cast<int>(resolved.type())] = resolved.index();
}

DeviceGuard::DeviceGuard(Device device) : previous_(device.type(), current_device(device.type())) {
  set_current_device(device);
}

DeviceGuard::~DeviceGuard() {
  if (!previous_.is_cpu()) thread_state().current_device[static_cast<int>(previous_.type())] = previous_.index();
}

Device pick_device() {
  const char* forced = std::getenv("LABRIG_DEVICE");
  if (forced && *forced) return resolve(Device(forced));
  return device_count(DeviceType::cuda) > 0 ? Device(DeviceType::cuda, 0) : Device{};
}

std::string describe(Device device) { return backend_of(device).describe(); }

}  // namespace labrig
