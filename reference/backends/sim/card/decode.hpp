// The first look at a record: its structure. Nothing here knows what a command means; a record that fails is damaged or
// forged, and the client is not served any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ops/kernel.hpp"
#include "protocol/command.hpp"

namespace labrig::sim {

// The parts of a record whose structure is right; for a launch the call with addresses as offsets in Operand::data.
struct Command {
  CommandHeader header{};
  Opcode opcode{};
  std::uint64_t arg[4] = {};
};

std::string_view name_of(Opcode opcode);

// Why the record is damaged; nothing when it is not. `granules` is the length it was copied with.
std::optional<std::string> damage_of(const Record& record, std::uint64_t granules, std::uint64_t expected_sequence);

Command command_of(const Record& record);
const NameCommand& name_command_of(const Record& record);
// The call of a launch whose structure is right. Strides are turned into elements; a sentence says when an operand
// makes no sense at all (more than six dimensions, a type that does not exist, a stride between elements).
std::optional<std::string> read_launch(const Record& record, KernelCall& call, std::uint32_t (&names)[kMaxOperands]);

}  // namespace labrig::sim
