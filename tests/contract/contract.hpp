// The behaviour suite of the devices: every test runs on each of them and expects the same values. A device that this
// machine does not have is skipped with the reason why.
//
// Inputs are multiples of 1/8 between -2 and 2 (whole numbers for integer types), so that all intermediate results are
// exact and every device, whatever its order of operations, must give the same bits.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "labrig/tensor.hpp"

namespace labrig::contract {

inline constexpr Dtype kAllTypes[] = {kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool};
inline constexpr Dtype kFloatTypes[] = {kF32, kF16, kBF16, kF64};

class DeviceContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      device = resolve(GetParam());
    } catch (const Error& error) {
      GTEST_SKIP() << GetParam() << " is not here: " << error.what() << ": " << error.why();
    }
  }

  // Host values moved to the device of the test.
  Tensor put(const std::vector<float>& values, const Dims& sizes, Dtype dtype = kF32) const {
    return tensor<float>(std::span<const float>(values), sizes).to(dtype).to(device);
  }
  // Small exact values, the same for the same seed.
  Tensor sample(const Dims& sizes, Dtype dtype, std::uint32_t seed) const {
    return host_sample(sizes, dtype, seed).to(device);
  }

  static Tensor host_sample(const Dims& sizes, Dtype dtype, std::uint32_t seed) {
    std::vector<double> values(static_cast<std::size_t>(sizes.product()));
    for (double& value : values) {
      seed = seed * 1664525 + 1013904223;
      const int step = static_cast<int>(seed >> 24) % 33 - 16;  // -16 … 16
      value = is_floating_point(dtype) ? step / 8.0 : dtype == kU8 ? step + 16 : dtype == kBool ? step & 1 : step;
    }
    return tensor<double>(std::span<const double>(values), sizes).to(dtype);
  }

  Device device;
};

// All values, fetched to the host.
inline std::vector<double> values(const Tensor& tensor) {
  const Tensor host = tensor.cpu().to(kF64).contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

// `expected`, computed in double, as a device must round it to `dtype`.
inline std::vector<double> rounded(const std::vector<double>& expected, Dtype dtype) {
  return values(tensor<double>(expected).to(dtype));
}

}  // namespace labrig::contract
