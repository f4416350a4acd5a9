// Random: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011). A block of
// four 32-bit numbers is a function of a counter and a key alone: no state to carry, no library whose numbers differ.
//
//   counter = [ block number (64 bits), stream (64 bits) ]      key = seed (64 bits)
#include <algorithm>
#include <span>

#include "labrig/lab.hpp"

namespace labrig::lab {

namespace {

void philox_4x32_10(std::uint32_t (&x)[4], std::uint64_t seed) {
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
    const auto high_a = static_cast<std::uint32_t>(a >> 32), high_b = static_cast<std::uint32_t>(b >> 32);
    x[0] = high_b ^ x[1] ^ key0;
    x[1] = static_cast<std::uint32_t>(b);
    x[2] = high_a ^ x[3] ^ key1;
    x[3] = static_cast<std::uint32_t>(a);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

}  // namespace

std::uint64_t Random::bits() {
  if (left_ == 0) {
    block_[0] = static_cast<std::uint32_t>(counter_);
    block_[1] = static_cast<std::uint32_t>(counter_ >> 32);
    block_[2] = static_cast<std::uint32_t>(stream_);
    block_[3] = static_cast<std::uint32_t>(stream_ >> 32);
    philox_4x32_10(block_, seed_);
    ++counter_;
    left_ = 4;
  }
  const std::uint64_t low = block_[4 - left_], high = block_[5 - left_];
  left_ -= 2;
  return high << 32 | low;
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

std::int64_t Random::integer(std::int64_t low, std::int64_t high) {
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (count == 0) return static_cast<std::int64_t>(bits());  // all 64-bit integers
  // Numbers from the incomplete last group are drawn again, so that every result is equally likely.
  const std::uint64_t last = ~std::uint64_t{0} - (~std::uint64_t{0} % count + 1) % count;
  std::uint64_t drawn = bits();
  while (drawn > last) drawn = bits();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + drawn % count);
}

Tensor Random::uniform_tensor(const Dims& sizes, double low, double high, Dtype dtype) {
  std::vector<double> values(static_cast<std::size_t>(sizes.product()));
  std::ranges::generate(values, [&] { return uniform(low, high); });
  return tensor(std::span<const double>(values), sizes).to(dtype);
}

Tensor Random::bernoulli_tensor(const Dims& sizes, double probability, Dtype dtype) {
  std::vector<double> values(static_cast<std::size_t>(sizes.product()));
  std::ranges::generate(values, [&] { return uniform() < probability ? 1.0 : 0.0; });
  return tensor(std::span<const double>(values), sizes).to(dtype);
}

}  // namespace labrig::lab
