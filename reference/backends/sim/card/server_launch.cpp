// Launches: shape and type by the kernel's schema, every operand inside one live block, work within the budget.
#include "card/server.hpp"

namespace labrig::sim {
namespace {

// One past the last byte of the operand, from its first; the schema has checked sizes and strides.
Wide span_bytes(const Operand& operand) {
  Wide last = 0;
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.sizes[d] == 0) return 0;
    last += Wide{operand.sizes[d] - 1} * operand.strides[d];
  }
  return (last + 1) * static_cast<std::int64_t>(element_bytes(operand.dtype));
}

std::uint64_t saturated(Wide value) {
  constexpr auto most = ~std::uint64_t{0};
  return value > Wide{most} ? most : static_cast<std::uint64_t>(value);
}

}  // namespace

bool Server::operands_ok(const Command& command, const KernelCall& call, const std::uint32_t (&names)[kMaxOperands],
                         Block* (&blocks)[kMaxOperands]) {
  const auto outputs = static_cast<std::size_t>(outputs_of(call.kernel));
  for (std::size_t i = 0; i < static_cast<std::size_t>(call.operand_count); ++i) {
    if (!names_.known(names[i])) {
      stop({"protocol-error", "the device got a damaged command", "it names a text that was never sent",
            "use the card through the library's own functions"});
      return false;
    }
    const Operand& operand = call.operands[i];
    const std::uint64_t bytes = saturated(span_bytes(operand));
    if (bytes == 0) continue;
    const auto address = reinterpret_cast<std::uint64_t>(operand.data);
    const auto who = [&] {
      return "kernel '" + std::string(name_of(call.kernel)) + "' " + (i < outputs ? "writes" : "reads");
    };
    if (address % element_bytes(operand.dtype) != 0) {
      refuse({"bad-address", who() + " at " + map_.text(address) + ", inside an element",
              "an address of " + std::string(name_of(operand.dtype)) + " must be a multiple of its size",
              "use the memory of a tensor of that type"});
      return false;
    }
    blocks[i] = block_ok(command.header.device, address, bytes, who);
    if (blocks[i] == nullptr) return false;
  }
  return true;
}

// Inputs first, then the outputs: what a kernel reads it reads before it writes.
Operation Server::enter_launch(const Command& command, const KernelCall& call,
                               const std::uint32_t (&names)[kMaxOperands], Block* (&blocks)[kMaxOperands],
                               Effect& effect) {
  Who who;
  who.kind = Who::Kind::kernel;
  who.kernel = static_cast<std::uint8_t>(call.kernel);
  const auto count = static_cast<std::size_t>(call.operand_count);
  const auto outputs = static_cast<std::size_t>(outputs_of(call.kernel));
  const auto name = [&](std::size_t i) { return names[i] != 0 || blocks[i] == nullptr ? names[i] : blocks[i]->name; };
  for (std::size_t i = outputs; i < count; ++i) {
    if (is_absent(call.operands[i])) continue;
    if (who.inputs < std::size(who.names)) who.names[who.inputs] = name(i);
    ++who.inputs;
  }
  const auto touch_all = [&](Access access) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool touched = (static_cast<int>(call.operands[i].access) & static_cast<int>(access)) != 0;
      if (!touched || blocks[i] == nullptr) continue;  // without elements
      const bool exact = runs_of(call.operands[i], runs_);
      touch(effect, who, command.header.device, *blocks[i], runs_, access == Access::write, !exact, names[i]);
    }
  };
  touch_all(Access::read);
  touch_all(Access::write);
  effect.who = who;
  effect.launch = ++launches_;
  effect.device = command.header.device;
  effect.stream = command.header.stream;
  return enter(command, who, effect);
}

void Server::launch(const Command& command, const Record& record) {
  KernelCall call;
  std::uint32_t names[kMaxOperands] = {};
  const auto unreadable = read_launch(record, call, names);
  last_kernel_ = static_cast<std::uint16_t>(call.kernel);
  if (!stream_ok(command)) return;
  const auto violation = unreadable ? unreadable : schema_violation(call);
  if (violation) {
    refuse({"bad-shape", "kernel '" + std::string(name_of(call.kernel)) + "' was called with operands that do not fit",
            *violation, "call operators through labrig/ops.hpp, which check shapes and types"});
    return;
  }
  if (account_.frozen() && call.kernel != Kernel::copy) {
    refuse({"after-finish",
            "kernel '" + std::string(name_of(call.kernel)) + "' was launched after the end of the measured call",
            "results can still be read then, and nothing else", "finish all work before the call returns"});
    return;
  }
  Block* blocks[kMaxOperands] = {};
  if (!operands_ok(command, call, names, blocks)) return;
  const KernelCost cost = cost_of(call);
  if (memory_.has_data() && cost.steps > options_.limits.kernel_steps) {
    refuse({"over-limit", "one kernel would take " + std::to_string(cost.steps) + " steps",
            "a kernel may take " + std::to_string(options_.limits.kernel_steps) + ", the same on every machine",
            "work on smaller tensors"});
    return;
  }
  if (!spend_steps(cost.steps)) return;

  const Prices& prices = card_of(command).prices;
  scheduler_.charge(prices.profile().launch_host_ps);
  scheduler_.submit(command.header.device, command.header.stream, Engine::compute, prices.kernel_ps(cost),
                    {name_of(call.kernel), 0, cost.bytes});
  Metrics& count = account_.count();
  ++count.launches;
  count.device_flops += cost.flops;
  count.device_bytes += cost.bytes;
  if (call.kernel == Kernel::copy && call.scalars[0] != 0) {
    ++count.hidden_copies;
    const Operand& out = call.operands[0];
    count.hidden_copy_bytes += cost.steps * element_bytes(out.dtype);
  }

  Effect effect;
  effect.kind = Effect::Kind::kernel;
  const Operation operation = enter_launch(command, call, names, blocks, effect);
  effect.call = &call;
  carry_out(operation, std::move(effect));
}

// `what` is PyTorch's first sentence. The others say what PyTorch's card does not know.
void Server::assert_in_kernel(const Effect& effect, const kernels::BadIndex& bad) {
  const std::string range = (bad.negative_allowed ? "-" + std::to_string(bad.size) : std::string("0")) + " to " +
                            std::to_string(bad.size - 1);
  refuse({"device-assert", "CUDA error: device-side assert triggered",
          findings_.what(effect.who) + ", launch " + std::to_string(effect.launch) +
              ", on sim:" + std::to_string(effect.device) + ", stream " + std::to_string(effect.stream) +
              ", met an index out of range: number " + std::to_string(bad.position) + " of operand " +
              std::to_string(bad.operand) + " is " + std::to_string(bad.value) + ", and allowed are " +
              (bad.size > 0 ? range : "none") +
              "; kernels run after the call that launched them has returned, so an earlier line than this one is wrong",
          "run the same step on the CPU, where the error comes at once and names the call, and check what made the "
          "indices; nothing more can be done on this card"});
}

}  // namespace labrig::sim
