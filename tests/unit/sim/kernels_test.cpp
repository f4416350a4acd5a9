// The kernels of the card against plain loops in double precision, over types, strides, broadcasting and overlap.
#include "ops/plain/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "labrig/dtype.hpp"
#include "labrig/layout.hpp"

namespace labrig::sim {
namespace {

constexpr Dtype kAllDtypes[] = {kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool};
constexpr Dtype kFloats[] = {kF32, kF16, kBF16, kF64};

double read_element(Dtype dtype, const std::byte* at) {
  const auto as = [at]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (dtype) {
    case Dtype::f32:
      return as(0.0f);
    case Dtype::f16:
      return static_cast<float>(as(float16()));
    case Dtype::bf16:
      return static_cast<float>(as(bfloat16()));
    case Dtype::f64:
      return as(0.0);
    case Dtype::i64:
      return static_cast<double>(as(std::int64_t{0}));
    case Dtype::i32:
      return as(std::int32_t{0});
    case Dtype::u8:
      return as(std::uint8_t{0});
    case Dtype::boolean:
      return as(std::uint8_t{0}) != 0;
  }
  return 0;
}

void write_element(Dtype dtype, std::byte* at, double value) {
  const auto put = [at](auto element) { std::memcpy(at, &element, sizeof element); };
  switch (dtype) {
    case Dtype::f32:
      return put(static_cast<float>(value));
    case Dtype::f16:
      return put(float16(static_cast<float>(value)));
    case Dtype::bf16:
      return put(bfloat16(static_cast<float>(value)));
    case Dtype::f64:
      return put(value);
    case Dtype::i64:
      return put(static_cast<std::int64_t>(value));
    case Dtype::i32:
      return put(static_cast<std::int32_t>(value));
    case Dtype::u8:
      return put(static_cast<std::uint8_t>(value));
    case Dtype::boolean:
      return put(static_cast<std::uint8_t>(value != 0));
  }
}

// A tensor in host memory, possibly transposed or with gaps, filled with small integers.
struct Array {
  Array(Dtype element, const Dims& shape, bool transposed, std::uint32_t seed) : dtype(element), sizes(shape) {
    strides = Layout::contiguous(shape).strides;
    if (transposed && shape.count() == 2) strides = Dims{1, shape[0]};
    bytes.resize(static_cast<std::size_t>(shape.product()) * element_bytes(element));
    std::mt19937 random(seed);
    for (std::size_t at = 0; at < bytes.size(); at += element_bytes(element)) {
      write_element(dtype, bytes.data() + at, static_cast<double>(random() % 9));
    }
  }
  Operand operand(Access access) {
    Operand made;
    made.data = bytes.data();
    made.dtype = dtype;
    made.access = access;
    made.sizes = sizes;
    made.strides = strides;
    return made;
  }
  // Element (i, j), broadcast; one-dimensional arrays are rows.
  double at(std::int64_t i, std::int64_t j) const {
    std::int64_t offset = 0;
    if (sizes.count() == 2) {
      offset = (sizes[0] == 1 ? 0 : i) * strides[0] + (sizes[1] == 1 ? 0 : j) * strides[1];
    } else if (sizes.count() == 1) {
      offset = (sizes[0] == 1 ? 0 : j) * strides[0];
    }
    return read_element(dtype, bytes.data() + offset * static_cast<std::int64_t>(element_bytes(dtype)));
  }

  Dtype dtype;
  Dims sizes, strides;
  std::vector<std::byte> bytes;
};

void run(Kernel kernel, std::initializer_list<Operand> operands, std::uint64_t scalar = 0) {
  KernelCall call;
  call.kernel = kernel;
  for (const Operand& operand : operands) call.push(operand);
  call.scalars[0] = scalar;
  ASSERT_EQ(schema_violation(call), std::nullopt);
  kernels::run(call);
}

double arithmetic(Kernel kernel, double a, double b) {
  switch (kernel) {
    case Kernel::add:
      return a + b;
    case Kernel::sub:
      return a - b;
    case Kernel::mul:
      return a * b;
    default:
      return a / b;
  }
}

// What an element of that type makes of a value that is exact in double.
double rounded(Dtype dtype, double value) {
  std::byte element[8];
  write_element(dtype, element, value);
  return read_element(dtype, element);
}

TEST(Kernels, ArithmeticBroadcastsAndMixesTypes) {
  for (const Kernel kernel : {Kernel::add, Kernel::sub, Kernel::mul, Kernel::div}) {
    for (const Dtype a_type : kAllDtypes) {
      for (const Dtype b_type : kAllDtypes) {
        Dtype out_type = promote_types(a_type, b_type);
        if (kernel == Kernel::div && !is_floating_point(out_type)) out_type = kF32;
        if (out_type == kBool || (out_type == kU8 && kernel == Kernel::sub)) continue;
        Array a(a_type, {5, 7}, true, 1), b(b_type, {7}, false, 2), out(out_type, {5, 7}, false, 3);
        run(kernel, {out.operand(Access::write), a.operand(Access::read), b.operand(Access::read)});
        for (std::int64_t i = 0; i < 5; ++i) {
          for (std::int64_t j = 0; j < 7; ++j) {
            const double expected = rounded(out_type, arithmetic(kernel, a.at(i, j), b.at(i, j)));
            const double seen = out.at(i, j);
            const bool same = seen == expected || (std::isnan(seen) && std::isnan(expected));
            EXPECT_TRUE(same || std::abs(seen - expected) <= std::abs(expected) * 1e-6)
                << name_of(kernel) << " " << name_of(a_type) << " " << name_of(b_type) << ": " << seen << ", not "
                << expected;
          }
        }
      }
    }
  }
}

TEST(Kernels, CopyConvertsBetweenAllTypes) {
  for (const Dtype from : kAllDtypes) {
    for (const Dtype to : kAllDtypes) {
      Array a(from, {4, 6}, true, 5), out(to, {4, 6}, false, 6);
      run(Kernel::copy, {out.operand(Access::write), a.operand(Access::read)});
      for (std::int64_t i = 0; i < 4; ++i) {
        for (std::int64_t j = 0; j < 6; ++j) EXPECT_EQ(out.at(i, j), rounded(to, a.at(i, j)));
      }
    }
  }
}

TEST(Kernels, MatmulAgreesWithADoublePrecisionLoop) {
  for (const Dtype dtype : kFloats) {
    for (const auto& [m, k, n] :
         {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 9}, {17, 33, 20}, {4, 64, 8}, {5, 0, 3}}) {
      for (const bool transposed : {false, true}) {
        Array a(dtype, {m, k}, transposed, 7), b(dtype, {k, n}, !transposed, 8), out(dtype, {m, n}, transposed, 9);
        run(Kernel::matmul, {out.operand(Access::write), a.operand(Access::read), b.operand(Access::read)});
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < k; ++l) sum += a.at(i, l) * b.at(l, j);
            EXPECT_EQ(out.at(i, j), rounded(dtype, sum)) << name_of(dtype) << " " << m << " " << k << " " << n;
          }
        }
      }
    }
  }
}

// Products whose sum depends on its order: the kernel adds them one by one in float, k ascending.
TEST(Kernels, MatmulAddsInAscendingOrder) {
  constexpr std::int64_t kDepth = 1000;
  std::mt19937 random(3);
  std::vector<float> a(kDepth * 5), b(kDepth * 11), out(5 * 11);
  for (float& x : a) x = static_cast<float>(random()) / 1e9f - 2.0f;
  for (float& x : b) x = static_cast<float>(random()) / 1e9f - 2.0f;
  const auto operand = [](std::vector<float>& data, Dims sizes, Access access) {
    Operand made;
    made.data = data.data();
    made.access = access;
    made.strides = Layout::contiguous(sizes).strides;
    made.sizes = sizes;
    return made;
  };
  run(Kernel::matmul, {operand(out, {5, 11}, Access::write), operand(a, {5, kDepth}, Access::read),
                       operand(b, {kDepth, 11}, Access::read)});
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 11; ++j) {
      double sum = 0;  // of 256 at a time, which are added in float
      for (std::size_t first = 0; first < kDepth; first += 256) {
        float part = 0;
        for (std::size_t k = first; k < std::min<std::size_t>(kDepth, first + 256); ++k) {
          part += a[i * kDepth + k] * b[k * 11 + j];
        }
        sum += static_cast<double>(part);
      }
      EXPECT_EQ(out[i * 11 + j], static_cast<float>(sum));
    }
  }
}

TEST(Kernels, ReductionsAgreeWithADoublePrecisionLoop) {
  for (const Dtype dtype : kAllDtypes) {
    for (const std::uint64_t dim : {0u, 1u}) {
      for (const Kernel kernel : {Kernel::sum, Kernel::mean, Kernel::max}) {
        if (kernel == Kernel::mean && !is_floating_point(dtype)) continue;
        const Dtype out_type = kernel == Kernel::sum && !is_floating_point(dtype) ? kI64 : dtype;
        Array a(dtype, {6, 11}, true, 10), out(out_type, dim == 0 ? Dims{1, 11} : Dims{6, 1}, false, 11);
        run(kernel, {out.operand(Access::write), a.operand(Access::read)}, dim);
        const std::int64_t count = dim == 0 ? 6 : 11;
        for (std::int64_t o = 0; o < (dim == 0 ? 11 : 6); ++o) {
          double sum = 0, best = -1;
          for (std::int64_t r = 0; r < count; ++r) {
            const double value = dim == 0 ? a.at(r, o) : a.at(o, r);
            sum += value;
            best = std::max(best, value);
          }
          const double expected = kernel == Kernel::max   ? best
                                  : kernel == Kernel::sum ? sum
                                                          : sum / static_cast<double>(count);
          EXPECT_EQ(dim == 0 ? out.at(0, o) : out.at(o, 0), rounded(out_type, expected)) << name_of(kernel);
        }
      }
    }
  }
}

TEST(Kernels, SumsOfManyFloatsKeepTheirDigits) {
  Array a(kF32, {1, 1 << 20}, false, 1), out(kF32, {1, 1}, false, 2);
  for (std::size_t i = 0; i < (1u << 20); ++i) write_element(kF32, a.bytes.data() + 4 * i, 0.1);
  run(Kernel::sum, {out.operand(Access::write), a.operand(Access::read)}, 1);
  EXPECT_EQ(out.at(0, 0), static_cast<double>(static_cast<float>(static_cast<double>(0.1f) * (1 << 20))));
}

TEST(Kernels, ASumOfNothingIsZeroAndAMeanOfNothingNaN) {
  Array a(kF32, {3, 0}, false, 1), out(kF32, {3, 1}, false, 2);
  run(Kernel::sum, {out.operand(Access::write), a.operand(Access::read)}, 1);
  EXPECT_EQ(out.at(2, 0), 0);
  run(Kernel::mean, {out.operand(Access::write), a.operand(Access::read)}, 1);
  EXPECT_TRUE(std::isnan(out.at(2, 0)));
}

TEST(Kernels, ANaNMakesAMaximumNaN) {
  Array a(kF32, {1, 5}, false, 1), out(kF32, {1, 1}, false, 2);
  write_element(kF32, a.bytes.data() + 8, std::numeric_limits<double>::quiet_NaN());
  run(Kernel::max, {out.operand(Access::write), a.operand(Access::read)}, 1);
  EXPECT_TRUE(std::isnan(out.at(0, 0)));
}

TEST(Kernels, NllLossLooksAtEveryTargetBeforeItWrites) {
  Array log_p(kF32, {4, 3, 1}, false, 1), target(kI64, {4, 1}, false, 2), out(kF32, {4, 1}, false, 3);
  Array total(kF32, {}, false, 4), gradient(kF32, {4, 3, 1}, false, 5);
  for (std::size_t i = 0; i < 4; ++i) write_element(kI64, target.bytes.data() + 8 * i, i == 2 ? 3 : 1);
  const auto before = out.bytes, gradient_before = gradient.bytes;
  const auto refused = [](auto call) {
    try {
      call();
    } catch (const kernels::BadIndex& bad) {
      EXPECT_EQ(bad.position, 2);
      EXPECT_EQ(bad.value, 3);
      EXPECT_EQ(bad.size, 3);
      return bad.operand;
    }
    return -1;
  };
  EXPECT_EQ(refused([&] {
              run(Kernel::nll_loss, {out.operand(Access::write), total.operand(Access::write),
                                     log_p.operand(Access::read), target.operand(Access::read), absent_operand()});
            }),
            3);
  EXPECT_EQ(refused([&] {
              run(Kernel::nll_loss_backward,
                  {gradient.operand(Access::write), out.operand(Access::read), target.operand(Access::read),
                   absent_operand(), total.operand(Access::read)});
            }),
            2);
  EXPECT_EQ(out.bytes, before);
  EXPECT_EQ(gradient.bytes, gradient_before);
}

TEST(Kernels, InPlaceIsElementByElementAndOtherOverlapReadsTheOldValues) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const auto part = [&](std::int64_t from, std::int64_t count, Access access) {
    Operand made;
    made.data = x.data() + from;
    made.access = access;
    made.sizes = Dims{count};
    made.strides = Dims{1};
    return made;
  };
  run(Kernel::add, {part(0, 6, Access::write), part(0, 6, Access::read), part(0, 6, Access::read)});
  EXPECT_EQ(x, (std::vector<float>{2, 4, 6, 8, 10, 12}));
  run(Kernel::add, {part(1, 5, Access::write), part(0, 5, Access::read), part(1, 5, Access::read)});
  EXPECT_EQ(x, (std::vector<float>{2, 6, 10, 14, 18, 22}));
}

TEST(Kernels, AProductMayBeWrittenOverItsFactor) {
  Array a(kF32, {4, 4}, false, 1), b(kF32, {4, 4}, false, 2), expected(kF32, {4, 4}, false, 3);
  run(Kernel::matmul, {expected.operand(Access::write), a.operand(Access::read), b.operand(Access::read)});
  run(Kernel::matmul, {a.operand(Access::write), a.operand(Access::read), b.operand(Access::read)});
  EXPECT_EQ(a.bytes, expected.bytes);
}

}  // namespace
}  // namespace labrig::sim
