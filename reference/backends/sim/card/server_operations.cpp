// From a checked command to an operation: what it touches goes to the ledger, what it does to bytes to the effects.
#include "card/server.hpp"

namespace labrig::sim {
namespace {

// A block whose unwritten bytes lie in more pieces than this is filled by the next write to it.
constexpr std::size_t kMaxUndefinedPieces = 4096;

}  // namespace

void Server::touch(Effect& effect, const Who& who, std::size_t space, Block& block, std::span<const ByteRange> runs,
                   bool write, bool possible, std::uint32_t name) {
  const std::uint32_t buffer = name != 0 ? name : block.name;
  std::uint64_t undefined_bytes = 0;
  for (const ByteRange& run : runs) {
    accesses_.push_back({space, run.start, run.bytes, write, possible, buffer, block.id, block.start});
    if (block.undefined.empty()) continue;
    if (!write || possible) {
      parts_.clear();
      block.undefined.common(run, parts_);
      for (const ByteRange& part : parts_) {
        undefined_bytes += part.bytes;
        // Of a write that is only known by its ends some bytes may stay as they are.
        (write ? effect.undefined : effect.poisoned).add(part);
      }
    }
    if (write) block.undefined.remove(run);
  }
  if (write && block.maker == 0 && who.kind == Who::Kind::kernel)
    block.maker = static_cast<std::uint8_t>(who.kernel + 1);
  if (write && block.undefined.pieces() > kMaxUndefinedPieces) {
    for (const ByteRange& part : block.undefined.ranges()) effect.undefined.add(part);
    block.undefined.clear();
  }
  if (!write && !possible && undefined_bytes > 0 && !account_.frozen()) {
    findings_.note_undefined(who, buffer, undefined_bytes);
  }
}

Operation Server::enter(const Command& command, const Who& who, Effect& effect) {
  const Operation operation = ledger_.submit(stream_index(command), who, accesses_);
  if (!ledger_.conflicts().empty()) {
    count_hazards({who, command.header.device, command.header.stream, operation.number}, accesses_);
    if (late()) {
      for (const Conflict& conflict : ledger_.conflicts()) poison(conflict, effect);
    }
  }
  accesses_.clear();
  bound_ledger();
  return operation;
}

// The table must not grow with what a client goes on to send: the card stops.
void Server::bound_ledger() {
  const auto full = [&] { return ledger_.ranges() > kMaxLedgerRanges || ledger_.entries() > kMaxLedgerEntries; };
  if (!full()) return;
  ledger_.sweep();
  if (!full()) return;
  stop({"over-limit",
        "the work that nobody has waited for touches more than " + std::to_string(kMaxLedgerRanges) +
            " separate pieces of memory, or touches them more than " + std::to_string(kMaxLedgerEntries) + " times",
        "the card keeps a table of them, of a limited size",
        "wait for the device now and then, or work on contiguous tensors"});
}

void Server::count_hazards(Later later, std::span<const MemoryAccess> accesses) {
  if (account_.frozen()) return;
  later.time_ps = account_.since_begin(scheduler_.host_ps());
  account_.count().hazards += findings_.add(later, ledger_.conflicts(), accesses);
}

// What the two operations see of the bytes that they fight for.
void Server::poison(const Conflict& conflict, Effect& effect) {
  if (conflict.possible) return;
  const ByteRange range{conflict.start, conflict.bytes};
  Effect* earlier = effects_.pending(conflict.earlier);
  switch (conflict.kind) {
    case Hazard::Kind::read_after_write:
      effect.poisoned.add(range);
      return;
    case Hazard::Kind::write_after_read:
      (earlier != nullptr ? earlier->poisoned : effect.contested).add(range);
      return;
    case Hazard::Kind::write_after_write:
      if (earlier != nullptr) earlier->contested.add(range);
      effect.contested.add(range);
      return;
    case Hazard::Kind::freed_in_flight:
      return;  // a name for reports: the ledger tells the kinds above
  }
}

void Server::carry_out(const Operation& operation, Effect&& effect) {
  if (!late()) return effects_.run(effect);
  if (effects_.count() >= options_.limits.pending_operations) {
    stop({"protocol-error", "the device got a damaged command",
          "more than " + std::to_string(options_.limits.pending_operations) + " operations wait on the card",
          "use the card through the library's own functions, which wait in time"});
    return;
  }
  effects_.add(operation, std::move(effect));
}

}  // namespace labrig::sim
