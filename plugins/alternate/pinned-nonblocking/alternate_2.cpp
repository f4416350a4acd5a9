// A correct answer of another kind: the loop is turned around. A chunk is read and its copy queued one step ahead of
// the work on the chunk before; the two buffers are halves of one pinned tensor, results land in one tensor on the
// card, and chunks are kept until the work on them is known to come first, instead of being recorded. The plan drops
// the worst buffer until the rest fits, then fills the gaps.
#include <algorithm>
#include <deque>

#include "interface.hpp"

using namespace pinned_nonblocking;
using labrig::Tensor;

class Lookahead : public Submission {
 public:
  Tensor pipeline(Source& source, const Work& work, labrig::Device device, std::size_t) override {
    const labrig::Dims sizes = source.chunk_sizes();
    const labrig::Stream main = labrig::current_stream(device), side = labrig::new_stream(device);
    const Tensor both = labrig::empty({2, sizes[0], sizes[1]}, labrig::Options().pinned_memory());
    const Tensor results = labrig::empty({source.chunks(), sizes[1]}, device);

    std::deque<labrig::Event> copied, used;  // behind the copies to the card, and behind the work on them
    std::deque<Tensor> chunks;               // those that the card may still work on
    const auto bring = [&](std::int64_t number) {
      if (copied.size() == 2) {
        copied.front().synchronize();
        copied.pop_front();
      }
      const Tensor buffer = both[number % 2];
      source.read_into(buffer);
      const labrig::StreamGuard guard(side);
      chunks.push_back(buffer.to(device, true));
      copied.push_back(side.record_event());
    };

    bring(0);
    for (std::int64_t i = 0; i < source.chunks(); ++i) {
      main.wait_event(copied.back());
      results[i].copy_(work(chunks.back()));
      used.push_back(main.record_event());
      if (chunks.size() == 3) {
        side.wait_event(used.front());  // before the memory of the oldest goes back to where copies get theirs
        used.pop_front();
        chunks.pop_front();
      }
      if (i + 1 < source.chunks()) bring(i + 1);
    }
    return results.cpu();
  }

  void fetch(std::span<const Tensor> results, std::span<const Tensor> buffers) override {
    std::vector<labrig::Event> landed;
    for (std::size_t i = 0; i < results.size(); ++i) {
      buffers[i].copy_(results[i], true);
      landed.push_back(labrig::current_stream(results[i].device()).record_event());
    }
    for (const labrig::Event& event : landed) event.synchronize();
  }

  std::vector<bool> staging_plan(std::span<const Transfer> transfers, const Rates& r, std::size_t budget) override {
    const auto worth = [&](std::size_t i) {  // saved seconds of one byte
      const double n = static_cast<double>(transfers[i].bytes), times = static_cast<double>(transfers[i].uploads);
      return times * ((r.pageable_fixed_s - r.pinned_fixed_s) / n + r.pageable_s_per_byte - r.pinned_s_per_byte) -
             r.pin_fixed_s / n - r.pin_s_per_byte;
    };
    std::vector<bool> pin(transfers.size(), true);
    std::size_t pinned = 0;
    for (const Transfer& t : transfers) pinned += t.bytes;
    const auto drop = [&](std::size_t i) {
      pin[i] = false;
      pinned -= transfers[i].bytes;
    };
    for (std::size_t i = 0; i < pin.size(); ++i)
      if (worth(i) <= 0) drop(i);
    while (pinned > budget) {
      std::size_t worst = pin.size();
      for (std::size_t i = 0; i < pin.size(); ++i)
        if (pin[i] && (worst == pin.size() || worth(i) < worth(worst))) worst = i;
      drop(worst);
    }
    for (std::size_t i = 0; i < pin.size(); ++i)
      if (!pin[i] && worth(i) > 0 && pinned + transfers[i].bytes <= budget) {
        pin[i] = true;
        pinned += transfers[i].bytes;
      }
    return pin;
  }
};

LABRIG_SUBMISSION(Lookahead)
