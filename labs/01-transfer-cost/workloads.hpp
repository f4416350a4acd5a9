// The workloads of task 3: pieces of work of five families, drawn so that some belong on the card and some on the host.
// For the judge only; what each really takes is measured on a simulated card in cost-only mode.
#pragma once

#include <cmath>
#include <vector>

#include "interface.hpp"
#include "labrig/cost_card.hpp"
#include "labrig/lab.hpp"

namespace transfer_cost {

inline constexpr int kWorkloads = 24;

// One piece of work as a program: `operands` matrices [rows, columns] go up, `launches` operators run, one result comes
// down; all of it `repeats` times.
struct Workload {
  enum class Family { product, chain, addition, passes, many_small } family;
  std::int64_t size = 0;  // of the square matrices, or the number of elements
  std::int64_t launches = 1;
  std::int64_t repeats = 1;

  bool is_product() const {
    return family == Family::product || family == Family::chain || family == Family::many_small;
  }
  labrig::Dims shape() const { return is_product() ? labrig::Dims{size, size} : labrig::Dims{size}; }
  double elements() const { return static_cast<double>(shape().product()); }
  double flops_per_launch() const { return is_product() ? 2.0 * std::pow(static_cast<double>(size), 3) : elements(); }
  double bytes_per_launch() const { return 12.0 * elements(); }  // two operands read, one result written

  Work work() const {
    const double times = static_cast<double>(repeats), kernels = times * static_cast<double>(launches);
    return {.flops = kernels * flops_per_launch(),
            .memory_bytes = kernels * bytes_per_launch(),
            .upload_bytes = times * 8.0 * elements(),
            .download_bytes = times * 4.0 * elements(),
            .uploads = times * 2,
            .downloads = times,
            .launches = kernels};
  }

  double host_seconds(const labrig::lab::CostCard& card) const {
    return static_cast<double>(repeats * launches) * card.host_seconds(flops_per_launch(), bytes_per_launch());
  }

  double card_seconds(labrig::lab::CostCard& card) const {
    const labrig::Tensor left = labrig::empty(shape()), right = labrig::empty(shape());
    const double once = card.seconds([&] {
      labrig::Tensor x = left.to(card.device());
      const labrig::Tensor y = right.to(card.device());
      for (std::int64_t i = 0; i < launches; ++i) x = is_product() ? labrig::matmul(x, y) : labrig::add(x, y);
      x.cpu();
    });
    return static_cast<double>(repeats) * once;
  }
};

// Log-uniform: as many between 16 and 32 as between 1024 and 2048.
inline std::int64_t spread(labrig::lab::Random& random, double low, double high) {
  return std::llround(std::exp(random.uniform(std::log(low), std::log(high))));
}

inline std::vector<Workload> draw_workloads(std::uint64_t seed) {
  using Family = Workload::Family;
  labrig::lab::Random random(seed);
  std::vector<Workload> all;
  for (int i = 0; i < kWorkloads; ++i) {
    switch (i % 6) {
      case 0:
        all.push_back({Family::product, spread(random, 16, 128)});
        break;
      case 1:
        all.push_back({Family::product, spread(random, 512, 2048)});
        break;
      case 2:
        all.push_back({Family::chain, spread(random, 128, 1024), spread(random, 4, 32)});
        break;
      case 3:
        all.push_back({Family::addition, spread(random, 1e3, 1e7)});
        break;
      case 4:
        all.push_back({Family::passes, spread(random, 1e6, 8e6), spread(random, 64, 256)});
        break;
      default:
        all.push_back({Family::many_small, spread(random, 8, 32), 1, spread(random, 10, 1000)});
        break;
    }
  }
  return all;
}

// The rates of a host and its card, found by timing: large operations for what is sustained, tiny ones for what is
// fixed.
inline Machine measure(labrig::lab::CostCard& card) {
  const labrig::Device device = card.device();
  const std::int64_t many = std::int64_t{1} << 22;
  const labrig::Tensor large = labrig::empty({many}), small = labrig::empty({1});
  const labrig::Tensor large_there = labrig::empty({many}, device), small_there = labrig::empty({1}, device);
  const labrig::Tensor matrix = labrig::empty({2048, 2048}, device);
  small_there.fill_(0);

  const double up = card.seconds([&] { small.to(device); }), down = card.seconds([&] { small_there.cpu(); });
  const double one_kernel = card.seconds([&] { small_there.fill_(0); });
  const double hundred_kernels = card.seconds([&] {
    for (int i = 0; i < 100; ++i) small_there.fill_(0);
  });
  const double bytes = 4.0 * static_cast<double>(many);

  Machine m;
  m.host_flops_per_s = 1e12 / card.host_seconds(1e12, 0);
  m.host_bytes_per_s = 1e12 / card.host_seconds(0, 1e12);
  m.seconds_per_launch = (hundred_kernels - one_kernel) / 99;
  m.seconds_per_copy = (up + down) / 2;
  m.device_flops_per_s = 2 * std::pow(2048.0, 3) / card.seconds([&] { labrig::matmul(matrix, matrix); });
  m.device_bytes_per_s = bytes / card.seconds([&] { large_there.fill_(0); });
  m.upload_bytes_per_s = bytes / card.seconds([&] { large.to(device); });
  m.download_bytes_per_s = bytes / card.seconds([&] { large_there.cpu(); });
  return m;
}

}  // namespace transfer_cost
