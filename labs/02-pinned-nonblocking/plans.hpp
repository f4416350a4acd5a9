// The plans of task 3: buffers and a budget that not all of them fit into, and the best plan, found by trying them all.
// For the judge only; the rates are timed on a simulated card in cost-only mode.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "labrig/cost_card.hpp"
#include "labrig/lab.hpp"

namespace pinned_nonblocking {

inline constexpr int kPlans = 20, kBuffers = 14;

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

  // Of the 2^14 plans, the least that fits. A plan is a number whose bits say what is pinned.
  double least_seconds(const Rates& r) const {
    double least = seconds(std::vector<bool>(transfers.size()), r);
    for (std::uint32_t plan = 1; plan < (1u << transfers.size()); ++plan) {
      std::size_t bytes = 0;
      double sum = 0;
      for (std::size_t i = 0; i < transfers.size() && bytes <= budget_bytes; ++i) {
        const bool pin = (plan >> i & 1) != 0;
        bytes += pin ? transfers[i].bytes : 0;
        sum += one_s(transfers[i], pin, r);
      }
      if (bytes <= budget_bytes) least = std::min(least, sum);
    }
    return least;
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
      const auto kib = static_cast<std::size_t>(spread(256, 8192));
      plan.transfers.push_back({kib << 10, spread(1, 60)});
      all += kib << 10;
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
