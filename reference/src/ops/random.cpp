// Random values: the generator, and the fills that draw from it. Read next: philox.hpp (how a value follows from seed,
// offset and its number).
#include "labrig/random.hpp"

#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "device/thread_state.hpp"
#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/operands.hpp"
#include "ops/philox.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

Generator& given_or_default(Generator* generator) { return generator ? *generator : default_generator(); }

void check_floating_point(const char* kernel, const Tensor& self) {
  if (is_floating_point(impl_of(self).dtype)) return;
  throw Error("dtype-mismatch",
              "\"" + std::string(kernel) + "\" not implemented for '" + torch_type_name(self.dtype()) + "'",
              "the values drawn are no whole numbers", "draw into an f32 tensor and convert it, or use random_");
}

template <class Value>
std::string text_of(Value value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

Error invalid(std::string what, const char* why, const char* fix) {
  return Error("invalid-argument", std::move(what), why, fix);
}

// Draws into self in place; what it held before has no influence, so its gradient is 0.
const Tensor& draw(Kernel kernel, const char* node, const Tensor& self, std::uint64_t first, std::uint64_t second,
                   Generator* generator) {
  graph::check_in_place(self);
  Generator& from = given_or_default(generator);
  const std::uint64_t seed = from.seed, offset = from.take(self.numel());
  run(kernel, {&self}, {first, second, seed, offset});
  graph::record_in_place(node, self, {&self}, [&](graph::Saver&) {
    return [](const Tensor& gradient, graph::Gradients& to) {
      to.give(0, zeros(gradient.sizes(), {gradient.dtype(), gradient.device()}));
    };
  });
  return self;
}

// The largest whole number up to which the type has them all.
std::int64_t largest_of(Dtype dtype) {
  constexpr std::int64_t kLargest[kDtypeCount] = {1 << 24,
                                                  1 << 11,
                                                  1 << 8,
                                                  std::int64_t{1} << 53,
                                                  std::numeric_limits<std::int64_t>::max(),
                                                  std::numeric_limits<std::int32_t>::max(),
                                                  std::numeric_limits<std::uint8_t>::max(),
                                                  1};
  return kLargest[static_cast<int>(dtype)];
}

void check_bound(const char* name, std::int64_t bound, Dtype dtype) {
  const std::int64_t most = largest_of(dtype);
  const std::int64_t least = dtype == kU8 || dtype == kBool ? 0 : is_floating_point(dtype) ? -most : -most - 1;
  if (bound >= least && bound <= most) return;
  throw invalid(std::string(name) + " is out of bounds for " + torch_name_of(dtype),
                "not every whole number of the range exists in this type", "draw into a wider type");
}

}  // namespace

std::uint64_t Generator::take(std::int64_t count) {
  const std::uint64_t start = offset;
  offset += (static_cast<std::uint64_t>(count) + 3) / 4;
  return start;
}

Generator& default_generator() { return thread_state().generator; }
void manual_seed(std::uint64_t seed) { default_generator() = {seed, 0}; }

const Tensor& uniform_(const Tensor& self, double low, double high, Generator* generator) {
  check_floating_point("check_uniform_bounds", self);
  if (!(low <= high)) {
    throw invalid(
        "uniform_ expects to return a [from, to) range, but found from=" + text_of(low) + " > to=" + text_of(high),
        "no number lies in that range", "exchange the bounds");
  }
  return draw(Kernel::uniform, "UniformBackward0", self, scalar_bits(low), scalar_bits(high), generator);
}

const Tensor& normal_(const Tensor& self, double mean, double deviation, Generator* generator) {
  check_floating_point("normal_kernel_cuda", self);
  if (!(deviation >= 0)) {
    throw invalid("normal expects std >= 0.0, but found std " + text_of(deviation),
                  "a standard deviation is a distance", "pass its absolute value");
  }
  return draw(Kernel::normal, "NormalBackward0", self, scalar_bits(mean), scalar_bits(deviation), generator);
}

const Tensor& random_(const Tensor& self, std::int64_t low, std::int64_t high, Generator* generator) {
  impl_of(self);
  if (low >= high) {
    throw invalid(
        "random_ expects 'from' to be less than 'to', but got from=" + text_of(low) + " >= to=" + text_of(high),
        "the upper bound itself is never drawn", "pass an upper bound above the lower one");
  }
  if (self.dtype() == kBool) {
    throw Error("dtype-mismatch", "\"random_from_to\" not implemented for 'Bool'", "the kernel draws numbers",
                "draw into a u8 tensor and convert it");
  }
  check_bound("from", low, self.dtype());
  check_bound("to - 1", high - 1, self.dtype());
  return draw(Kernel::random_integers, "RandomBackward0", self, static_cast<std::uint64_t>(low),
              static_cast<std::uint64_t>(high), generator);
}

Tensor rand(const Dims& sizes, Options options, Generator* generator) {
  const Tensor result = with_origin(empty(sizes, options), Origin::made_by("rand"));
  return uniform_(result, 0, 1, generator);
}

Tensor randn(const Dims& sizes, Options options, Generator* generator) {
  const Tensor result = with_origin(empty(sizes, options), Origin::made_by("randn"));
  return normal_(result, 0, 1, generator);
}

Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes, Options options, Generator* generator) {
  const Tensor result = with_origin(empty(sizes, options), Origin::made_by("randint"));
  return random_(result, low, high, generator);
}

// Fisher and Yates: from the end, each place gets one of those that are left.
Tensor randperm(std::int64_t count, Generator* generator) {
  if (count < 0) {
    throw invalid("n must be non-negative, got " + text_of(count), "it is the number of elements",
                  "pass a count of 0 or more");
  }
  Tensor result = arange(count);
  Generator& from = given_or_default(generator);
  const std::uint64_t offset = from.take(count);
  const auto order = result.data<std::int64_t>();
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::uint64_t word = philox::wide_word_of(from.seed, offset, left - 1);
    std::swap(order[left - 1], order[philox::integer_in_range(word, 0, left)]);
  }
  return result;
}

}  // namespace labrig
