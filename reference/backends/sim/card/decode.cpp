// Structure of records, from one table: length and number of arguments of each opcode.
#include "card/decode.hpp"

#include <algorithm>
#include <cstring>

namespace labrig::sim {
namespace {

struct Shape {
  std::string_view name;
  int args;  // of a SmallCommand; -1: not one
};

constexpr Shape kShapes[kOpcodeCount] = {
    {"nop", 0},
    {"name", -1},
    {"stream create", 1},
    {"stream destroy", 0},
    {"event create", 2},
    {"event destroy", 1},
    {"record", 1},
    {"wait", 1},
    {"launch", -1},
    {"copy up", 4},
    {"copy down", 4},
    {"pageable begin", 3},
    {"pageable chunk", 3},
    {"copy within", 4},
    {"copy peer", 4},
    {"alloc note", 3},
    {"free note", 1},
    {"name note", 2},
    {"pinned note", 3},
    {"pinned free note", 1},
    {"host work", 2},
    {"job", 4},
    {"take job", 1},
    {"close worker", 1},
    {"host access", 3},
    {"fetch note", 2},
    {"marker", 1},
    {"sync stream", 1},
    {"sync event", 2},
    {"sync device", 1},
    {"query event", 1},
    {"query stream", 0},
    {"elapsed", 2},
    {"driver malloc", 1},
    {"driver free", 1},
    {"driver reserve", 1},
    {"driver release", 1},
    {"driver map", 2},
    {"driver unmap", 2},
    {"pinned malloc", 1},
    {"pinned free", 1},
    {"copy to pageable", 4},
    {"throttle", 0},
    {"statistics", 0},
    {"clock", 0},
    {"begin", 0},
    {"finish", 0},
};

template <class T>
T as(const Record& record, std::size_t offset = 0) {
  T value;
  std::memcpy(&value, record.bytes + offset, sizeof value);
  return value;
}

std::optional<std::string> launch_damage(const Record& record, std::uint64_t granules) {
  const auto launch = as<LaunchCommand>(record);
  if (launch.reserved != 0 || launch.reserved2 != 0 || launch.pad[0] != 0 || launch.pad[1] != 0 || launch.pad[2] != 0)
    return "a reserved field is not 0";
  if (launch.operands > kMaxWireOperands) return "a launch has too many operands";
  if (granules != 2 + 2 * std::uint64_t{launch.operands}) return "a launch does not have the length of its operands";
  for (std::size_t i = 0; i < launch.operands; ++i) {
    const auto operand = as<WireOperand>(record, sizeof launch + i * sizeof(WireOperand));
    if (operand.reserved != 0 || operand.pad[0] != 0 || operand.pad[1] != 0) return "a reserved field is not 0";
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Opcode opcode) { return kShapes[static_cast<std::size_t>(opcode)].name; }

std::optional<std::string> damage_of(const Record& record, std::uint64_t granules, std::uint64_t expected_sequence) {
  const auto header = as<CommandHeader>(record);
  if (header.opcode >= kOpcodeCount) return "there is no command " + std::to_string(header.opcode);
  const auto opcode = static_cast<Opcode>(header.opcode);
  if (opcode == Opcode::launch) {
    if (auto damage = launch_damage(record, granules)) return damage;
  } else if (granules != (opcode == Opcode::name ? 2 : 1)) {
    return "a '" + std::string(name_of(opcode)) + "' command has the wrong length";
  }
  if ((header.ticket != 0) != is_two_way(opcode)) return "a ticket is missing, or is one too many";
  if (header.reserved != 0) return "a reserved field is not 0";
  const int args = kShapes[header.opcode].args;
  if (args >= 0) {
    const auto small = as<SmallCommand>(record);
    for (int i = args; i < 4; ++i) {
      if (small.arg[i] != 0) return "a '" + std::string(name_of(opcode)) + "' command has too many arguments";
    }
  }
  if (header.sequence != expected_sequence) return "commands do not follow each other";
  return std::nullopt;
}

Command command_of(const Record& record) {
  Command command;
  command.header = as<CommandHeader>(record);
  command.opcode = static_cast<Opcode>(command.header.opcode);
  const auto small = as<SmallCommand>(record);
  std::memcpy(command.arg, small.arg, sizeof command.arg);
  return command;
}

const NameCommand& name_command_of(const Record& record) { return *reinterpret_cast<const NameCommand*>(record.bytes); }

std::optional<std::string> read_launch(const Record& record, KernelCall& call, std::uint32_t (&names)[kMaxOperands]) {
  const auto launch = as<LaunchCommand>(record);
  const auto kernel = kernel_from_index(launch.kernel);
  if (!kernel) return "there is no kernel " + std::to_string(launch.kernel);
  call.kernel = *kernel;
  std::copy(std::begin(launch.scalar), std::end(launch.scalar), call.scalars.begin());
  for (std::size_t i = 0; i < launch.operands; ++i) {
    const auto wire = as<WireOperand>(record, sizeof launch + i * sizeof(WireOperand));
    const std::string position = "operand " + std::to_string(i);
    if (wire.ndim > kMaxDims) return position + " has more than six dimensions";
    if (wire.dtype >= kDtypeCount) return position + " has an unknown element type";
    Operand operand;
    operand.data = reinterpret_cast<void*>(wire.address);
    operand.dtype = static_cast<Dtype>(wire.dtype);
    operand.access = static_cast<Access>(wire.access);
    const auto bytes = static_cast<std::int64_t>(element_bytes(operand.dtype));
    for (int d = 0; d < wire.ndim; ++d) {
      if (wire.strides_bytes[d] % bytes != 0) return position + " has a stride that ends inside an element";
      operand.sizes.push_back(wire.sizes[d]);
      operand.strides.push_back(wire.strides_bytes[d] / bytes);
    }
    names[i] = wire.name;
    call.push(operand);
  }
  return std::nullopt;
}

}  // namespace labrig::sim
