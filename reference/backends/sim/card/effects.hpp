// Effects: what operations do to bytes, and when they do it. In the mode `eager` at once; in the mode `late` exactly
// when the host becomes ordered after the operation, so that a program that forgot to wait sees it every time:
//
//   host      upload ── matmul ── download ─────────────── sync ──► reads the result
//   effects      ·         ·         ·       (nothing yet)  ╰─ all three, in order of submission
//
// Bytes that two unordered operations fight for are poisoned (0xFF: NaN, -1), and so are bytes that nothing has
// written. A poisoned read lasts for its operation only: the true bytes stay where they are.
// Read next: device_memory.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "card/device_memory.hpp"
#include "card/ledger.hpp"
#include "ops/kernel.hpp"
#include "protocol/regions.hpp"

namespace labrig::sim {

// Ranges to poison. Of more than kMaxPieces one is made, from the first byte to the last: a table of a hostile program
// stays small.
class PoisonSet {
 public:
  void add(const ByteRange& range);
  bool empty() const { return set_.empty(); }
  const std::vector<ByteRange>& ranges() const { return set_.ranges(); }
  const RangeSet& set() const { return set_; }

 private:
  static constexpr std::size_t kMaxPieces = 256;
  RangeSet set_;
};

struct Effect {
  enum class Kind : std::uint8_t {
    none,      // of an operation that the handler has carried out itself
    kernel,    // `call`, whose operands are device offsets
    up,        // from the arena
    captured,  // from bytes that were taken out of staging
    down,      // to the arena
    within,    // within device memory, of one card or two
  } kind = Kind::none;
  std::uint64_t destination = 0, source = 0, bytes = 0;  // of copies
  const KernelCall* call = nullptr;
  Who who;  // the kernel, for people, with its number among the launches and where it ran
  std::uint64_t launch = 0;
  std::uint16_t device = 0, stream = 0;
  std::vector<std::byte> captured;
  PoisonSet poisoned;   // of its source or of its inputs: read as poison
  PoisonSet undefined;  // of its destination: poison before it writes, as it may leave bytes out
  PoisonSet contested;  // of its destination: poison after it has written
};

class Effects {
 public:
  // What to do when a kernel meets an index out of range. Not called when it read poison: that index is the card's own.
  using BadIndexHandler = std::function<void(const Effect&, const kernels::BadIndex&)>;
  Effects(DeviceMemory& memory, const Regions& regions, BadIndexHandler on_bad_index)
      : memory_(memory), regions_(regions), on_bad_index_(std::move(on_bad_index)) {}

  void run(const Effect& effect);

  // For later. In order of submission.
  void add(const Operation& operation, Effect&& effect);
  // The effect of an operation that is still to come; null when it has been carried out.
  Effect* pending(const Operation& operation);
  // All that the clock is ordered after, in order of submission.
  void reach(const Clock& frontier);
  void carry_out_all();
  // From any thread: nobody will see bytes any more. Effects from now on are counted, and do nothing.
  void drop() { dropped_.store(true, std::memory_order_relaxed); }
  std::size_t count() const { return count_; }
  std::uint64_t captured_bytes() const { return captured_bytes_; }

 private:
  struct Pending {
    Operation operation;
    Effect effect;
    KernelCall call;  // what effect.call points to
  };
  using PendingPtr = std::unique_ptr<Pending>;  // they are large, and used again
  void run_front(StreamIndex stream);
  void poison_copy(const Effect& effect, std::byte* destination);

  DeviceMemory& memory_;
  const Regions& regions_;
  const BadIndexHandler on_bad_index_;
  PendingPtr unused();

  std::vector<std::deque<PendingPtr>> streams_;
  std::vector<PendingPtr> unused_;
  std::vector<std::pair<std::uint64_t, StreamIndex>> ready_;  // operation number, stream
  std::size_t count_ = 0;
  std::atomic<bool> dropped_{false};
  std::uint64_t captured_bytes_ = 0;
};

}  // namespace labrig::sim
