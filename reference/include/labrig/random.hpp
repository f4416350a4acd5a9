// Random values from a counter: value number i of a draw depends on seed, offset and i alone (Philox 4x32-10), so that
// the same program draws the same values on every device. Every draw moves the generator's offset on.
#pragma once

#include <cstdint>

#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig {

struct Generator {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // of the next draw, in groups of four values
  // The offset for a draw of `count` values; the next draw starts behind them.
  LABRIG_API std::uint64_t take(std::int64_t count);
};
// That of the calling thread: what is used where no generator is given.
LABRIG_API Generator& default_generator();
LABRIG_API void manual_seed(std::uint64_t seed);

// In [low, high); mean and standard deviation; whole numbers in [low, high). Value i goes to element i in row-major
// order, however that lies in memory. The first two take floating point types, random_ all but bool. They throw
// `dtype-mismatch`, `invalid-argument` (a range without values, or one that the type does not have) and
// `leaf-in-place`.
LABRIG_API const Tensor& uniform_(const Tensor& self, double low = 0, double high = 1, Generator* generator = nullptr);
LABRIG_API const Tensor& normal_(const Tensor& self, double mean = 0, double deviation = 1,
                                 Generator* generator = nullptr);
LABRIG_API const Tensor& random_(const Tensor& self, std::int64_t low, std::int64_t high,
                                 Generator* generator = nullptr);
LABRIG_API Tensor rand(const Dims& sizes, Options options = {}, Generator* generator = nullptr);
LABRIG_API Tensor randn(const Dims& sizes, Options options = {}, Generator* generator = nullptr);
LABRIG_API Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes, Options options = {Dtype::i64},
                          Generator* generator = nullptr);
// 0 … count - 1 in a random order, on the CPU.
LABRIG_API Tensor randperm(std::int64_t count, Generator* generator = nullptr);

}  // namespace labrig
