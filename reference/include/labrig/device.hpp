// Where a tensor lives: the host (`cpu`), a simulated card (`sim:N`) or a real one (`cuda:N`). Names and meaning are
// PyTorch's. A card without a number, as in "sim", means the current device of that type.
// Read next: stream.hpp (what a card does, in which order), tensor.hpp.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "labrig/export.hpp"

namespace labrig {

enum class DeviceType : std::uint8_t { cpu, sim, cuda };

// "cpu", "sim" or "cuda".
LABRIG_API const char* name_of(DeviceType type);

class LABRIG_API Device {
 public:
  constexpr Device() = default;  // the host
  constexpr Device(DeviceType type, int index = -1) : type_(type), index_(static_cast<std::int16_t>(index)) {}
  // Reads "cpu", "sim", "sim:1", "cuda:0". Throws Error `invalid-device-string`.
  Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}

  constexpr DeviceType type() const { return type_; }
  // The card's number; -1 means "the current one" and is always -1 for the host.
  constexpr int index() const { return index_; }
  constexpr bool has_index() const { return index_ >= 0; }
  constexpr bool is_cpu() const { return type_ == DeviceType::cpu; }
  std::string str() const;

  constexpr auto operator<=>(const Device&) const = default;

 private:
  DeviceType type_ = DeviceType::cpu;
  std::int16_t index_ = -1;
};

// How many devices of a type this process can use: 1 for the host, the cards of the simulated machine, the visible
// CUDA devices (0 without a driver or in a build without CUDA).
LABRIG_API int device_count(DeviceType type);

// The same device with its number filled in from the calling thread's current device. Throws `invalid-device` when
// there is no such card, with the reason why (no CUDA in this build, no driver, only N cards).
LABRIG_API Device resolve(Device device);

LABRIG_API int current_device(DeviceType type);
LABRIG_API void set_current_device(Device device);

// Makes a device current for a scope, on the calling thread.
class LABRIG_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  Device previous_;
};

// The device a program should use, chosen once at its entrance: LABRIG_DEVICE if set, else cuda:0 if there is one,
// else the host. Throws when LABRIG_DEVICE names a device that is not there.
LABRIG_API Device pick_device();

// What the devices of this process are, one line each, for a start-up self-check.
LABRIG_API std::string describe(Device device);

}  // namespace labrig
