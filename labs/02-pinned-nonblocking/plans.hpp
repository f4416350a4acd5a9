// The plans of task 3: buffers and a budget that not all of them fit into, and the time of the best plan.
// For the judge only; the rates are timed on a simulated card in cost-only mode.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "labrig/cost_card.hpp"
#include "labrig/lab.hpp"

namespace pinned_nonblocking {

inline constexpr int kPlans = 20, kBuffers = 40;
inline constexpr std::size_t kBlockBytes = 64 << 10;

struct Staging {
  std::vector<Transfer> transfers;
  std::size_t budget_bytes = 0;

  std::size_t pinned_bytes(const std::vector<bool>& pin) const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < transfers.size(); ++i) bytes += pin[i] ? transfers[i].bytes : 0;
    return bytes;
  }

  double seconds(const std::vector<bool>& pin, const Rates& r) const {
    double sum = 0;
    for (std::size_t i = 0; i < transfers.size(); ++i) sum += one_s(transfers[i], pin[i], r);
    return sum;
  }

  // Of all plans that fit, the least: a knapsack, filled buffer by buffer. Sizes are whole blocks.
  double least_seconds(const Rates& r) const {
    const std::size_t room = budget_bytes / kBlockBytes;
    std::vector<double> least(room + 1);  // with the buffers so far, in so many blocks
    for (const Transfer& t : transfers) {
      const std::size_t blocks = t.bytes / kBlockBytes;
      const double pinned = one_s(t, true, r), pageable = one_s(t, false, r);
      for (std::size_t b = room + 1; b-- > 0;)
        least[b] = blocks <= b ? std::min(least[b] + pageable, least[b - blocks] + pinned) : least[b] + pageable;
    }
    return least[room];
  }

  static double one_s(const Transfer& t, bool pin, const Rates& r) {
    const double bytes = static_cast<double>(t.bytes), times = static_cast<double>(t.uploads);
    return pin ? r.pin_fixed_s + bytes * r.pin_s_per_byte + times * (r.pinned_fixed_s + bytes * r.pinned_s_per_byte)
               : times * (r.pageable_fixed_s + bytes * r.pageable_s_per_byte);
  }
};

// Sizes and counts spread evenly over their orders of magnitude; a third to two thirds of the bytes fit.
inline std::vector<Staging> draw_plans(std::uint64_t seed) {
  labrig::lab::Random random(seed);
  const auto spread = [&](double low, double high) {
    return std::llround(std::exp(random.uniform(std::log(low), std::log(high))));
  };
  std::vector<Staging> plans(kPlans);
  for (Staging& plan : plans) {
    std::size_t all = 0;
    for (int i = 0; i < kBuffers; ++i) {
      const std::size_t bytes = static_cast<std::size_t>(spread(2, 64)) * kBlockBytes;
      plan.transfers.push_back({bytes, spread(1, 60)});
      all += bytes;
    }
    plan.budget_bytes = static_cast<std::size_t>(static_cast<double>(all) * random.uniform(0.35, 0.65));
  }
  return plans;
}

// Found by timing two sizes of each.
inline Rates measure(labrig::lab::CostCard& card) {
  using labrig::Tensor;
  const std::int64_t small = 1 << 20, large = 1 << 24;  // elements of one byte
  const auto pinned = labrig::Options(labrig::kU8).pinned_memory();
  // {seconds that do not depend on the size, seconds a byte}
  const auto line = [&](auto seconds) {
    const double per_byte = (seconds(large) - seconds(small)) / static_cast<double>(large - small);
    return std::pair(seconds(small) - per_byte * static_cast<double>(small), per_byte);
  };
  const auto upload = [&](const labrig::Options& options) {
    return line([&](std::int64_t bytes) {
      const Tensor host = labrig::empty({bytes}, options);
      const Tensor there = labrig::empty({bytes}, {labrig::kU8, card.device()});
      return card.seconds([&] { there.copy_(host, true); });
    });
  };
  Rates r;
  // The first time, before the allocator has blocks to hand out again.
  std::vector<Tensor> kept;
  const auto pin = [&](std::int64_t bytes) {
    return card.seconds([&] { kept.push_back(labrig::empty({bytes}, pinned)); });
  };
  const double pin_small = pin(small), pin_large = pin(large);
  r.pin_s_per_byte = (pin_large - pin_small) / static_cast<double>(large - small);
  r.pin_fixed_s = pin_small - r.pin_s_per_byte * static_cast<double>(small);
  std::tie(r.pageable_fixed_s, r.pageable_s_per_byte) = upload(labrig::Options(labrig::kU8));
  std::tie(r.pinned_fixed_s, r.pinned_s_per_byte) = upload(pinned);
  return r;
}

}  // namespace pinned_nonblocking
