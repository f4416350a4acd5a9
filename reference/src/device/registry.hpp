// The devices that this process has in use. There is one registry a process: devices are what a process has, and a
// tensor must find its own without being told. It opens a device when it is first asked for, never before: a program
// that stays on the host starts no card.
// Read next: backend.hpp (backend_of, attach_sim_backends), slot.hpp.
#pragma once

#include <memory>

#include "device/slot.hpp"

namespace labrig {

// Opens the device if need be. Throws `invalid-device` with the reason.
LABRIG_API std::shared_ptr<DeviceSlot> slot_of(Device device);
// Only if it is open already, else null. Never throws for a device that does not exist.
std::shared_ptr<DeviceSlot> open_slot(Device device);
// The card that pinned memory is for: the simulated machine if there is one, else CUDA if there is a card, else the
// automatic simulated machine; LABRIG_DEVICE goes before all of these. Throws `no-card-to-pin-for`.
std::shared_ptr<DeviceSlot> slot_for_pinning();
// The one card of a type that owns the pinned memory of all of them: sim:0; of CUDA's the one that was opened first, so
// that no other card gets a context for it. Opens a device if need be.
std::shared_ptr<DeviceSlot> pinning_slot(DeviceType type);
// Only if it is open already, else null.
std::shared_ptr<DeviceSlot> open_pinning_slot(DeviceType type);
// Changes whenever a simulated machine comes or goes.
std::uint64_t machine_number();

}  // namespace labrig
