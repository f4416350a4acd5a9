// The card's kernels against the host's: the same random call, on the same bytes, must leave the same bytes behind, in
// the output and around it. Calls cover every kernel, all element types and mixtures of them, broadcast, permuted,
// expanded and gapped layouts, empty tensors, and sizes on both sides of the fast paths. Needs a card; says so and
// skips without. Values are small whole numbers where rounding would depend on the order of additions, so that equality
// is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "backends/cpu/kernels.hpp"
#include "device/backend.hpp"
#include "ops/elementwise_kernels.hpp"
#include "ops/strided.hpp"

namespace labrig {
namespace {

// Bytes on host and card that one operand lives in, and the operand itself.
struct Placed {
  Operand operand;  // data is set when a side is chosen
  std::vector<std::byte> bytes;
  std::size_t start = 0;  // of the first element
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

  KernelCall call_of(Kernel kernel, std::vector<Placed>& all, std::vector<void*> starts, double scalar) {
    KernelCall call;
    call.kernel = kernel;
    call.scalars[0] = scalar_bits(scalar);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].operand.data = starts[i];
      call.push(all[i].operand);
    }
    return call;
  }

  // The output's bytes after the card ran the call; the inputs must be what they were.
  std::vector<std::byte> run_on_card(Kernel kernel, std::vector<Placed>& all, std::uint64_t scalar, StreamId stream) {
    std::vector<void*> blocks, starts;
    for (const Placed& placed : all) {
      blocks.push_back(card_->driver_malloc(placed.bytes.size()));
      move(CopyDirection::up, blocks.back(), placed.bytes.data(), placed.bytes.size(), stream);
      starts.push_back(static_cast<std::byte*>(blocks.back()) + placed.start);
    }
    KernelCall call = call_of(kernel, all, starts, 0);
    call.scalars[0] = scalar;
    card_->launch(call, stream);
    std::vector<std::byte> output;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<std::byte> after(all[i].bytes.size());
      move(CopyDirection::down, after.data(), blocks[i], after.size(), stream);
      if (i == 0)
        output = after;
      else
        EXPECT_EQ(after, all[i].bytes) << "input " << i << " was changed";
      card_->driver_free(blocks[i]);
    }
    return output;
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

  // Runs the call on both sides and compares; `expected` carries it out on the host. Relative error, in units of the
  // output's own rounding, of at most `ulps`.
  template <class Host>
  void compare(Kernel kernel, std::vector<Placed>& all, std::uint64_t scalar, Host host, double ulps = 0) {
    const std::vector<std::byte> on_card = run_on_card(kernel, all, scalar, stream());
    std::vector<void*> starts;
    starts.reserve(all.size());
    for (Placed& placed : all) starts.push_back(placed.bytes.data() + placed.start);
    KernelCall call = call_of(kernel, all, starts, 0);
    call.scalars[0] = scalar;
    const auto violation = schema_violation(call);
    ASSERT_FALSE(violation) << violation.value_or("");
    host(call);
    const std::vector<std::byte>& on_host = all[0].bytes;
    kernels::dispatch(all[0].operand.dtype, [&]<class T>() {
      for (std::size_t at = all[0].start % sizeof(T); at + sizeof(T) <= on_host.size(); at += sizeof(T)) {
        const auto card_bytes = on_card.begin() + static_cast<std::ptrdiff_t>(at);
        const auto host_bytes = on_host.begin() + static_cast<std::ptrdiff_t>(at);
        if (std::equal(card_bytes, card_bytes + sizeof(T), host_bytes)) continue;
        T card, expected;
        std::memcpy(&card, on_card.data() + at, sizeof(T));
        std::memcpy(&expected, on_host.data() + at, sizeof(T));
        const auto a = static_cast<double>(kernels::load(card)), b = static_cast<double>(kernels::load(expected));
        if (std::isnan(a) && std::isnan(b)) continue;
        const double unit = std::is_same_v<T, bfloat16>  ? 0x1p-8
                            : std::is_same_v<T, float16> ? 0x1p-11
                            : std::is_same_v<T, float>   ? 0x1p-24
                                                         : 0x1p-53;
        if (kernels::is_float_element<T> && std::abs(a - b) <= 2 * ulps * unit * std::abs(b)) continue;
        FAIL() << name_of(kernel) << ": " << a << " instead of " << b << " at byte " << at << "; " << describe(all);
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
int calls() {
  const char* asked = std::getenv("LABRIG_TEST_CALLS");
  return asked != nullptr && std::atoi(asked) > 0 ? std::atoi(asked) : 400;
}

TEST_F(CardKernels, FillAndArangeWriteWhatTheHostWrites) {
  for (int i = 0; i < calls(); ++i) {
    std::vector<Placed> all{place(any_sizes(), any_dtype(), Access::write)};
    set_values(all[0], false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::fill, all, scalar_bits(special()), kernels::fill));
    Dtype dtype = any_dtype();
    if (dtype == Dtype::boolean) dtype = Dtype::i64;
    std::vector<Placed> line{place({pick(0, 3000)}, dtype, Access::write)};
    set_values(line[0], false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::arange, line, 0, kernels::arange));
  }
}

TEST_F(CardKernels, CopyConvertsAndBroadcastsAsTheHostDoes) {
  for (int i = 0; i < 2 * calls(); ++i) {
    const Dims sizes = any_sizes();
    const Dtype out = any_dtype();
    std::vector<Placed> all{place(sizes, out, Access::write),
                            place(broadcastable(sizes), chance(30) ? out : any_dtype(), Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::copy, all, 0, kernels::copy));
  }
}

TEST_F(CardKernels, ArithmeticOfTwoTensorsHasTheHostsBits) {
  for (int i = 0; i < 2 * calls(); ++i) {
    const Dims sizes = any_sizes();
    auto kernel = static_cast<Kernel>(pick(static_cast<int>(Kernel::add), static_cast<int>(Kernel::div)));
    const Dtype out = kernel == Kernel::div ? any_float() : any_dtype();
    if (kernel == Kernel::sub && out == Dtype::boolean) kernel = Kernel::mul;
    std::vector<Placed> all{place(sizes, out, Access::write), place(broadcastable(sizes), input_for(out), Access::read),
                            place(broadcastable(sizes), input_for(out), Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, 0, kernels::binary));
  }
}

TEST_F(CardKernels, ArithmeticWithANumberReluAndNegHaveTheHostsBits) {
  for (int i = 0; i < 2 * calls(); ++i) {
    const Dims sizes = any_sizes();
    constexpr Kernel kKernels[] = {Kernel::add_scalar, Kernel::sub_scalar, Kernel::mul_scalar,
                                   Kernel::div_scalar, Kernel::relu,       Kernel::neg};
    Kernel kernel = kKernels[pick(0, 5)];
    const Dtype out = kernel == Kernel::div_scalar ? any_float() : any_dtype();
    if (out == Dtype::boolean) kernel = chance(50) ? Kernel::add_scalar : Kernel::mul_scalar;
    std::vector<Placed> all{place(sizes, out, Access::write),
                            place(broadcastable(sizes), input_for(out), Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    const bool counts = kernel != Kernel::relu && kernel != Kernel::neg;
    ASSERT_NO_FATAL_FAILURE(
        compare(kernel, all, scalar_bits(special()), counts ? kernels::with_scalar : kernels::unary));
  }
}

TEST_F(CardKernels, MaskedFillChoosesAsTheHostDoes) {
  for (int i = 0; i < calls(); ++i) {
    const Dims sizes = any_sizes();
    const Dtype out = any_dtype();
    std::vector<Placed> all{place(sizes, out, Access::write), place(broadcastable(sizes), input_for(out), Access::read),
                            place(broadcastable(sizes), Dtype::boolean, Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::masked_fill, all, scalar_bits(special()), kernels::masked_fill));
  }
}

// In place, as add_ is: the output is also the first input.
TEST_F(CardKernels, AnOutputMayBeAnInput) {
  for (const std::int64_t count : {1, 3, 16, 1000, 100'000}) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(pick(-100, 100));
    const std::size_t bytes = values.size() * sizeof(float);
    void* const block = card_->driver_malloc(bytes);
    move(CopyDirection::up, block, values.data(), bytes, 0);
    Operand out{block, Dtype::f32, Access::write, {count}, {1}, {}}, in = out;
    in.access = Access::read;
    KernelCall call;
    call.kernel = Kernel::add;
    call.push(out);
    call.push(in);
    call.push(in);
    card_->launch(call, 0);
    std::vector<float> after(values.size());
    move(CopyDirection::down, after.data(), block, bytes, 0);
    card_->driver_free(block);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(after[i], 2 * values[i]);
  }
}

TEST_F(CardKernels, ReductionsEqualTheHosts) {
  for (int i = 0; i < 3 * calls(); ++i) {
    Dims sizes = any_sizes();
    if (sizes.count() == 0) sizes = {chance(50) ? 70'000 : 1'000'003};
    const int dim = static_cast<int>(pick(0, sizes.count() - 1));
    const auto kernel = static_cast<Kernel>(pick(static_cast<int>(Kernel::sum), static_cast<int>(Kernel::max)));
    if (kernel == Kernel::max && sizes[dim] == 0) continue;
    const Dtype in = kernel == Kernel::mean ? any_float() : any_dtype();
    const Dtype out = kernel == Kernel::sum && !is_floating_point(in) ? Dtype::i64 : in;
    Dims reduced = sizes;
    reduced[dim] = 1;
    std::vector<Placed> all{place(reduced, out, Access::write), place(sizes, in, Access::read)};
    for (Placed& placed : all) set_values(placed, kernel != Kernel::max);
    // A mean divides in float where the host divides in double.
    ASSERT_NO_FATAL_FAILURE(
        compare(kernel, all, static_cast<std::uint64_t>(dim), cpu::reduction, kernel == Kernel::mean ? 1 : 0));
  }
}

// The textbook product, exact for small whole numbers.
void plain_matmul(const KernelCall& call) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  kernels::dispatch(out.dtype, [&]<class T>() {
    for (std::int64_t row = 0; row < out.sizes[0]; ++row) {
      for (std::int64_t column = 0; column < out.sizes[1]; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < a.sizes[1]; ++k)
          sum +=
              static_cast<double>(kernels::load(static_cast<const T*>(a.data)[row * a.strides[0] + k * a.strides[1]])) *
              static_cast<double>(
                  kernels::load(static_cast<const T*>(b.data)[k * b.strides[0] + column * b.strides[1]]));
        static_cast<T*>(out.data)[row * out.strides[0] + column * out.strides[1]] = kernels::convert<T>(sum);
      }
    }
  });
}

TEST_F(CardKernels, MatrixProductsAreExactForSmallWholeNumbersInEveryLayout) {
  for (int i = 0; i < calls(); ++i) {
    const auto size = [&] { return chance(5) ? 0 : chance(20) ? 1 : chance(10) ? pick(60, 130) : pick(2, 40); };
    const std::int64_t m = size(), n = size(), k = size();
    const Dtype dtype = any_float();
    std::vector<Placed> all{place({m, n}, dtype, Access::write), place({m, k}, dtype, Access::read),
                            place({k, n}, dtype, Access::read)};
    for (Placed& placed : all) set_values(placed, true);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::matmul, all, 0, plain_matmul));
  }
}

}  // namespace
}  // namespace labrig
