// Lab 02, pinned-nonblocking: the reference solution. Two pinned buffers take turns: while the card copies one of them
// and computes on the chunk before, the host reads into the other.
//
//   host      read 0 → A   read 1 → B   wait A, read 2 → A   wait B, read 3 → B …
//   copies         copy A ▐ copy B ▌    copy A …
//   kernels               ▐ work 0 ▌    work 1 …
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "interface.hpp"

using labrig::Device;
using labrig::Event;
using labrig::Stream;
using labrig::Tensor;
using namespace pinned_nonblocking;

class Solution : public Submission {
 public:
  Tensor pipeline(Source& source, const Work& work, Device device, std::size_t) override {
    const Stream compute = labrig::current_stream(device), copies = labrig::new_stream(device);
    const auto pinned = labrig::Options().pinned_memory();
    std::array<Tensor, 2> buffers = {labrig::empty(source.chunk_sizes(), pinned),
                                     labrig::empty(source.chunk_sizes(), pinned)};
    std::array<std::optional<Event>, 2> copied;  // behind the copy out of each buffer

    std::vector<Tensor> results;
    for (std::int64_t i = 0; i < source.chunks(); ++i) {
      const std::size_t turn = static_cast<std::size_t>(i) % 2;
      if (copied[turn]) copied[turn]->synchronize();  // the buffer is free again
      source.read_into(buffers[turn]);

      const labrig::StreamGuard in_copies(copies);
      const Tensor chunk = buffers[turn].to(device, /*non_blocking=*/true);
      copied[turn] = copies.record_event();
      chunk.record_stream(compute);  // made in one stream, used in another
      compute.wait_event(*copied[turn]);

      const labrig::StreamGuard in_compute(compute);
      results.push_back(work(chunk));
    }
    return labrig::stack(results).cpu();
  }

  void fetch(std::span<const Tensor> results, std::span<const Tensor> buffers) override {
    if (results.empty()) return;
    for (std::size_t i = 0; i < results.size(); ++i) buffers[i].copy_(results[i], /*non_blocking=*/true);
    labrig::current_stream(results.front().device()).synchronize();  // one wait for all of them
  }

  // A knapsack, filled by seconds saved for each byte pinned.
  std::vector<bool> staging_plan(std::span<const Transfer> transfers, const Rates& rates,
                                 std::size_t budget_bytes) override {
    const auto saved_s = [&](std::size_t i) {
      const double bytes = static_cast<double>(transfers[i].bytes), times = static_cast<double>(transfers[i].uploads);
      const double pageable = times * (rates.pageable_fixed_s + bytes * rates.pageable_s_per_byte);
      const double pinned = times * (rates.pinned_fixed_s + bytes * rates.pinned_s_per_byte);
      return pageable - pinned - (rates.pin_fixed_s + bytes * rates.pin_s_per_byte);
    };
    const auto worth = [&](std::size_t i) { return saved_s(i) / static_cast<double>(transfers[i].bytes); };
    std::vector<std::size_t> order(transfers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });

    std::vector<bool> pin(transfers.size());
    for (const std::size_t i : order) {
      if (saved_s(i) <= 0 || transfers[i].bytes > budget_bytes) continue;
      pin[i] = true;
      budget_bytes -= transfers[i].bytes;
    }
    return pin;
  }
};

LABRIG_SUBMISSION(Solution)
