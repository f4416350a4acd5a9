// The fixture of the tests that compare the card's kernels with the host's: the same random call, on the same bytes,
// must leave the same bytes behind, in the outputs and around them. Needs a card; says so and skips without.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "device/backend.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig {

// Bytes on host and card that one operand lives in, and the operand itself.
struct Placed {
  Operand operand;  // data is set when a side is chosen
  std::vector<std::byte> bytes;
  std::size_t start = 0;  // of the first element
};

using Scalars = std::vector<std::uint64_t>;

// What the values of an output may differ by, in units of the output's own rounding: a part of the value, or (sums,
// whose terms may cancel) a part of the largest value of the output, at least of 1.
struct Tolerance {
  double of_value = 0, of_largest = 0;
};

class CardKernels : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto made = make_cuda_backend(0);
    if (made)
      card_ = std::move(made).value();
    else
      why_not_ = made.error().message();
  }
  static void TearDownTestSuite() { card_.reset(); }
  void SetUp() override {
    if (!card_) GTEST_SKIP() << why_not_;
  }

  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  Dtype any_dtype() { return static_cast<Dtype>(pick(0, kDtypeCount - 1)); }
  Dtype any_float() { return static_cast<Dtype>(pick(0, 3)); }

  Dims any_sizes() {
    Dims sizes;
    const int dims = static_cast<int>(pick(0, 4));
    for (int d = 0; d < dims; ++d)
      sizes.push_back(chance(3) ? 0 : chance(20) ? 1 : chance(10) ? pick(100, 300) : pick(2, 9));
    while (sizes.product() > 200'000) {
      for (int d = 0; d < dims; ++d) sizes[d] = (sizes[d] + 1) / 2;
    }
    return sizes;
  }

  // An operand of these sizes, laid out at random; an input may be expanded.
  Placed place(const Dims& sizes, Dtype dtype, Access access) {
    Placed placed;
    Operand& operand = placed.operand;
    operand.sizes = operand.strides = sizes;
    operand.dtype = dtype;
    operand.access = access;
    const int dims = sizes.count();
    std::vector<int> order(static_cast<std::size_t>(dims));
    for (int d = 0; d < dims; ++d) order[static_cast<std::size_t>(d)] = dims - 1 - d;  // innermost first
    if (chance(40)) std::shuffle(order.begin(), order.end(), random_);
    const bool gaps = chance(30), expands = access == Access::read && chance(20);
    std::int64_t span = 1;
    for (const int d : order) {
      if (expands && chance(40)) {
        operand.strides[d] = 0;
        continue;
      }
      operand.strides[d] = gaps && chance(50) ? span * pick(1, 3) : span;
      span = std::max<std::int64_t>(1, operand.strides[d] * std::max<std::int64_t>(sizes[d], 1));
    }
    const std::size_t width = element_bytes(dtype);
    placed.start = static_cast<std::size_t>(chance(30) ? pick(1, 5) : 0) * width + 64;
    placed.bytes.resize(placed.start + static_cast<std::size_t>(span) * width + 64);
    return placed;
  }

  double special() {
    constexpr double kValues[] = {0.0,   -0.0,  1.0,   -1.0, 0.5,  1.0 / 3, 255,  256,
                                  65504, 65520, 70000, 3e9,  -3e9, 1e19,    1e-7, 1e39};
    if (chance(5)) return NAN;
    if (chance(5)) return chance(50) ? INFINITY : -INFINITY;
    return kValues[pick(0, std::size(kValues) - 1)];
  }

  // Elements everywhere, also between and around those of the operand.
  void set_values(Placed& placed, bool whole_numbers) {
    kernels::dispatch(placed.operand.dtype, [&]<class T>() {
      for (std::size_t at = placed.start % sizeof(T); at + sizeof(T) <= placed.bytes.size(); at += sizeof(T)) {
        T value;
        if constexpr (std::is_same_v<T, kernels::Bool8>)
          value.byte = static_cast<std::uint8_t>(pick(0, 1));
        else if (whole_numbers || chance(60))
          value = kernels::convert<T>(static_cast<double>(pick(-4, 4)));
        else if constexpr (kernels::is_float_element<T>)
          value = kernels::convert<T>(special());
        else
          value = static_cast<T>(random_());
        std::memcpy(placed.bytes.data() + at, &value, sizeof(T));
      }
    });
  }

  KernelCall call_of(Kernel kernel, std::vector<Placed>& all, const std::vector<void*>& starts,
                     const Scalars& scalars) {
    KernelCall call;
    call.kernel = kernel;
    std::copy(scalars.begin(), scalars.end(), call.scalars.begin());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].operand.data = starts[i];
      call.push(all[i].operand);
    }
    return call;
  }

  // All operands' bytes after the card ran the call.
  std::vector<std::vector<std::byte>> run_on_card(Kernel kernel, std::vector<Placed>& all, const Scalars& scalars,
                                                  StreamId stream) {
    std::vector<void*> blocks, starts;
    for (const Placed& placed : all) {
      blocks.push_back(card_->driver_malloc(placed.bytes.size()));
      move(CopyDirection::up, blocks.back(), placed.bytes.data(), placed.bytes.size(), stream);
      starts.push_back(static_cast<std::byte*>(blocks.back()) + placed.start);
    }
    card_->launch(call_of(kernel, all, starts, scalars), stream);
    std::vector<std::vector<std::byte>> after;
    for (std::size_t i = 0; i < all.size(); ++i) {
      after.emplace_back(all[i].bytes.size());
      move(CopyDirection::down, after[i].data(), blocks[i], after[i].size(), stream);
      card_->driver_free(blocks[i]);
    }
    return after;
  }

  void move(CopyDirection direction, void* to, const void* from, std::size_t bytes, StreamId stream) {
    CopyRequest request;
    request.direction = direction;
    request.destination = to;
    request.source = from;
    request.bytes = bytes;
    request.stream = stream;
    card_->copy(request);
  }

  // Runs the call on both sides and compares all operands, with what lies between and around their elements.
  void compare(Kernel kernel, std::vector<Placed>& all, const Scalars& scalars, Tolerance tolerance = {}) {
    std::vector<void*> starts;
    for (Placed& placed : all) starts.push_back(placed.bytes.data() + placed.start);
    const auto violation = schema_violation(call_of(kernel, all, starts, scalars));
    ASSERT_FALSE(violation) << name_of(kernel) << ": " << violation.value_or("");
    const auto on_card = run_on_card(kernel, all, scalars, stream());
    kernels::run(call_of(kernel, all, starts, scalars));
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(std::string(name_of(kernel)) + ", operand " + std::to_string(i) + "; " + describe(all));
      const bool is_output = static_cast<int>(i) < outputs_of(kernel);
      ASSERT_NO_FATAL_FAILURE(compare_bytes(all[i], on_card[i], is_output ? tolerance : Tolerance{}));
    }
  }

  void compare_bytes(const Placed& host, const std::vector<std::byte>& card, Tolerance tolerance) {
    kernels::dispatch(host.operand.dtype, [&]<class T>() {
      constexpr double unit = std::is_same_v<T, bfloat16>  ? 0x1p-8
                              : std::is_same_v<T, float16> ? 0x1p-11
                              : std::is_same_v<T, float>   ? 0x1p-24
                                                           : 0x1p-53;
      const auto number = [](const std::vector<std::byte>& bytes, std::size_t at) {
        T element;
        std::memcpy(&element, bytes.data() + at, sizeof(T));
        return static_cast<double>(kernels::load(element));
      };
      const std::size_t first = host.start % sizeof(T);
      double largest = 1;
      for (std::size_t at = first; at + sizeof(T) <= host.bytes.size(); at += sizeof(T)) {
        const double value = std::abs(number(host.bytes, at));
        if (std::isfinite(value)) largest = std::max(largest, value);
      }
      for (std::size_t at = first; at + sizeof(T) <= host.bytes.size(); at += sizeof(T)) {
        if (std::memcmp(card.data() + at, host.bytes.data() + at, sizeof(T)) == 0) continue;
        const double a = number(card, at), b = number(host.bytes, at);
        if (std::isnan(a) && std::isnan(b)) continue;
        const double allowed = 2 * unit * (tolerance.of_value * std::abs(b) + tolerance.of_largest * largest);
        if (kernels::is_float_element<T> && std::abs(a - b) <= allowed) continue;
        FAIL() << a << " instead of " << b << " at byte " << at << ", element from byte " << host.start;
      }
    });
  }

  static std::string describe(const std::vector<Placed>& all) {
    std::string text;
    for (const Placed& placed : all)
      text += std::string(name_of(placed.operand.dtype)) + placed.operand.sizes.str() + " strides " +
              placed.operand.strides.str() + " from byte " + std::to_string(placed.start) + "; ";
    return text;
  }

  static std::string_view name_of(Kernel kernel) { return labrig::name_of(kernel); }
  static const char* name_of(Dtype dtype) { return labrig::name_of(dtype); }

  // Now the default stream, now another one.
  StreamId stream() {
    if (streams_.empty()) streams_ = {0, card_->create_stream()};
    return streams_[static_cast<std::size_t>(pick(0, 1))];
  }

  // An input that broadcasts to `sizes`: some dimensions 1, some left out in front.
  Dims broadcastable(const Dims& sizes) {
    Dims result;
    for (int d = chance(20) ? static_cast<int>(pick(0, sizes.count())) : 0; d < sizes.count(); ++d)
      result.push_back(chance(15) ? 1 : sizes[d]);
    return result;
  }

  // A type that an output of type `out` takes without losing its kind.
  Dtype input_for(Dtype out) {
    if (chance(60)) return out;
    while (true) {
      const Dtype in = any_dtype();
      const auto kind = [](Dtype d) { return d == Dtype::boolean ? 0 : is_floating_point(d) ? 2 : 1; };
      if (kind(in) <= kind(out)) return in;
    }
  }

  static inline std::unique_ptr<Backend> card_;
  static inline std::string why_not_;
  std::vector<StreamId> streams_;
  std::mt19937_64 random_{20240607};
};

// How many calls a test makes; compute-sanitizer, which is slow, asks for fewer (tools/device.sh).
inline int calls() {
  const char* asked = std::getenv("LABRIG_TEST_CALLS");
  return asked != nullptr && std::atoi(asked) > 0 ? std::atoi(asked) : 400;
}

}  // namespace labrig
