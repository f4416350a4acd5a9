// Element types: sizes, names, promotion, and the conversions of the two 16-bit formats over all their values.
#include "labrig/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "ops/strided.hpp"

namespace labrig {
namespace {

constexpr Dtype kAll[] = {kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool};

// The value of a binary16 by its definition.
double f16_by_definition(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

// Nearest of the two neighbours of `value` among the finite values of a 16-bit format, ties to the even pattern;
// `below` is the largest pattern whose value is not above |value|.
template <class Half>
std::uint16_t nearest(float value, std::uint16_t below) {
  const auto at = [](unsigned bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    return static_cast<double>(static_cast<float>(half));
  };
  const double magnitude = std::fabs(static_cast<double>(value));
  double above = at(below + 1u);
  if (std::isinf(above)) above = 2 * at(below) - at(below - 1u);  // where the next value would be
  const double down = magnitude - at(below), up = above - magnitude;
  const bool goes_up = up < down || (up == down && (below & 1));
  return static_cast<std::uint16_t>((below + (goes_up ? 1 : 0)) | (std::signbit(value) ? 0x8000 : 0));
}

TEST(Float16, HasTheValueOfItsDefinitionForEveryPattern) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const double expected = f16_by_definition(half.bits), value = static_cast<float>(half);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(value)) << bits;
    else
      ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(expected)) << bits;
  }
}

TEST(Float16, SurvivesTheWayToFloatAndBackForEveryPattern) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float16 back(static_cast<float>(half));
    if (std::isnan(static_cast<float>(half)))
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    else
      ASSERT_EQ(back.bits, bits);
  }
}

TEST(Float16, RoundsToTheNearestAndTiesToEvenBetweenAllNeighbours) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float low = static_cast<float>(half);
    half.bits = static_cast<std::uint16_t>(bits + 1);
    const float high = bits + 1 == 0x7c00 ? 65536.0F : static_cast<float>(half);
    const float middle = low + (high - low) / 2;
    for (const float value : {low, std::nextafter(low, high), std::nextafter(middle, low), middle,
                              std::nextafter(middle, high), std::nextafter(high, low)}) {
      ASSERT_EQ(float16(value).bits, nearest<float16>(value, static_cast<std::uint16_t>(bits))) << value;
      ASSERT_EQ(float16(-value).bits, nearest<float16>(-value, static_cast<std::uint16_t>(bits))) << -value;
    }
  }
}

TEST(Float16, OverflowsToInfinityFrom65520On) {
  EXPECT_EQ(float16(65519.996F).bits, 0x7bff);
  EXPECT_EQ(float16(65520.0F).bits, 0x7c00);
  EXPECT_EQ(float16(-1e30F).bits, 0xfc00);
  EXPECT_EQ(float16(INFINITY).bits, 0x7c00);
  EXPECT_TRUE(std::isnan(static_cast<float>(float16(NAN))));
}

TEST(Bfloat16, SurvivesTheWayToFloatAndBackForEveryPattern) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    bfloat16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(half);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(static_cast<float>(bfloat16(value)))) << bits;
    else
      ASSERT_EQ(bfloat16(value).bits, bits);
  }
}

// Also at the edge, where the upper neighbour is infinity.
TEST(Bfloat16, RoundsToTheNearestAndTiesToEvenBetweenAllNeighbours) {
  for (unsigned bits = 0; bits < 0x7f80; ++bits) {
    for (const std::uint32_t low : {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float value = std::bit_cast<float>(bits << 16 | low);
      const bool up = low > 0x8000 || (low == 0x8000 && (bits & 1));
      ASSERT_EQ(bfloat16(value).bits, bits + up);
      ASSERT_EQ(bfloat16(-value).bits, (bits + up) | 0x8000);
    }
  }
}

TEST(Conversion, KeepsEveryNaNANaN) {
  for (std::uint32_t fraction = 1; fraction < 0x800000u; ++fraction) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const float nan = std::bit_cast<float>(sign | 0x7f800000u | fraction);
      ASSERT_EQ(bfloat16(nan).bits, 0x7fc0);
      ASSERT_EQ(float16(nan).bits, 0x7e00 | sign >> 16);
    }
  }
}

TEST(Conversion, RoundsTheSubnormalFloatsToo) {
  for (std::uint32_t bits = 0; bits < 0x800000u; bits += 0x7f) {  // below 2^-126: all below half of the smallest f16
    ASSERT_EQ(float16(std::bit_cast<float>(bits)).bits, 0);
    const bool up = (bits & 0xffffu) > 0x8000u || ((bits & 0xffffu) == 0x8000u && (bits & 0x10000u));
    ASSERT_EQ(bfloat16(std::bit_cast<float>(bits)).bits, (bits >> 16) + up);
  }
}

TEST(PromoteTypes, FollowsPyTorchsTable) {
  EXPECT_EQ(promote_types(kF16, kBF16), kF32);
  EXPECT_EQ(promote_types(kF16, kF32), kF32);
  EXPECT_EQ(promote_types(kBF16, kF64), kF64);
  EXPECT_EQ(promote_types(kI64, kF16), kF16);
  EXPECT_EQ(promote_types(kI32, kU8), kI32);
  EXPECT_EQ(promote_types(kI32, kI64), kI64);
  EXPECT_EQ(promote_types(kBool, kU8), kU8);
  for (const Dtype a : kAll) {
    EXPECT_EQ(promote_types(a, a), a);
    EXPECT_EQ(promote_types(a, kBool), a);
    for (const Dtype b : kAll) EXPECT_EQ(promote_types(a, b), promote_types(b, a));
  }
}

TEST(Dtype, HasTheNamesThatPyTorchPrints) {
  EXPECT_STREQ(torch_name_of(kF16), "c10::Half");
  EXPECT_STREQ(torch_name_of(kI64), "long int");
  EXPECT_STREQ(name_of(kBF16), "bf16");
  EXPECT_EQ(element_bytes(kF64), 8u);
}

TEST(Convert, TruncatesFloatsAndClampsWhatDoesNotFit) {
  using kernels::convert;
  EXPECT_EQ(convert<std::int32_t>(-2.9F), -2);
  EXPECT_EQ(convert<std::int32_t>(3e9F), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(convert<std::int64_t>(-1e30), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::int64_t>(NAN), 0);
  EXPECT_EQ(convert<std::uint8_t>(300.0F), 44);
  EXPECT_EQ(convert<std::uint8_t>(-1.0F), 255);
  EXPECT_EQ(convert<kernels::Bool8>(NAN).byte, 1);
  EXPECT_EQ(convert<kernels::Bool8>(0.25F).byte, 1);
  EXPECT_EQ(convert<kernels::Bool8>(std::int64_t{256}).byte, 1);
}

TEST(Convert, ReadsAnyByteButZeroAsTrue) {
  EXPECT_EQ(kernels::convert<std::int64_t>(kernels::Bool8{0xff}), 1);
  EXPECT_EQ(kernels::convert<float>(kernels::Bool8{0}), 0.0F);
}

}  // namespace
}  // namespace labrig
