// A correct answer of another kind: everything is allocated before the loop. Two pinned buffers on the host and two
// tensors on the card, one pair a turn; an event behind each copy and one behind each use order all four, so that no
// memory is freed inside the loop. The kernels have a stream of their own, the copies stay in the current one. The plan
// is the exact answer of the knapsack, by dynamic programming over blocks of the budget.
#include <algorithm>
#include <memory>

#include "interface.hpp"

namespace pn = pinned_nonblocking;
using labrig::Event;
using labrig::Tensor;

namespace {

struct Turn {
  Tensor host, there;
  Event copied, used;  // the host buffer is free again; the tensor on the card is

  Turn(const labrig::Dims& sizes, labrig::Device device)
      : host(labrig::empty(sizes, labrig::Options().pinned_memory())),
        there(labrig::empty(sizes, device)),
        copied(device, false),
        used(device, false) {}
};

}  // namespace

class StaticBuffers final : public pn::Submission {
 public:
  Tensor pipeline(pn::Source& source, const pn::Work& work, labrig::Device device, std::size_t) override {
    const labrig::Stream copies = labrig::current_stream(device), kernels = labrig::new_stream(device);
    Turn even(source.chunk_sizes(), device), odd(source.chunk_sizes(), device);
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < source.chunks(); ++i) {
      Turn& turn = i % 2 == 0 ? even : odd;
      turn.copied.synchronize();
      source.read_into(turn.host);
      turn.used.wait(copies);
      turn.there.copy_(turn.host, true);
      turn.copied.record(copies);
      turn.copied.wait(kernels);
      const labrig::StreamGuard guard(kernels);
      rows.push_back(work(turn.there));
      turn.used.record(kernels);
    }
    const labrig::StreamGuard guard(kernels);
    return labrig::stack(rows).to("cpu");
  }

  void fetch(std::span<const Tensor> results, std::span<const Tensor> buffers) override {
    for (std::size_t i = 0; i < results.size(); ++i) buffers[i].copy_(results[i]);  // each waits for itself
  }

  std::vector<bool> staging_plan(std::span<const pn::Transfer> transfers, const pn::Rates& rates,
                                 std::size_t budget_bytes) override {
    constexpr std::size_t kBlock = 64 << 10;
    const std::size_t room = budget_bytes / kBlock, count = transfers.size();
    // best[i][b]: most seconds saved with the first i buffers in b blocks.
    std::vector<std::vector<double>> best(count + 1, std::vector<double>(room + 1));
    const auto blocks = [&](std::size_t i) { return (transfers[i].bytes + kBlock - 1) / kBlock; };
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t b = 0; b <= room; ++b) {
        best[i + 1][b] = best[i][b];
        if (blocks(i) <= b)
          best[i + 1][b] = std::max(best[i][b], best[i][b - blocks(i)] + saved_s(transfers[i], rates));
      }
    std::vector<bool> pin(count);
    for (std::size_t i = count, b = room; i-- > 0;) {
      pin[i] = best[i + 1][b] > best[i][b];
      if (pin[i]) b -= blocks(i);
    }
    return pin;
  }

 private:
  static double saved_s(const pn::Transfer& t, const pn::Rates& r) {
    const auto bytes = static_cast<double>(t.bytes);
    const double each =
        r.pageable_fixed_s + bytes * r.pageable_s_per_byte - r.pinned_fixed_s - bytes * r.pinned_s_per_byte;
    return static_cast<double>(t.uploads) * each - r.pin_fixed_s - bytes * r.pin_s_per_byte;
  }
};

LABRIG_SUBMISSION(StaticBuffers)
