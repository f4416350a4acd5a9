// Random numbers, and dropout. Value i of a draw belongs to element i of the output in row-major order, however that
// lies in memory. Read next: ops/philox.hpp.
#include "ops/elementwise_kernels.hpp"
#include "ops/map.hpp"
#include "ops/philox.hpp"
#include "ops/plain/kernels.hpp"

namespace labrig::kernels {
namespace {

// The words of a draw in turn; four come at once.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t offset, std::uint64_t stream = 0)
      : seed_(seed), counter_(offset), stream_(stream) {}
  std::uint32_t next() {
    if (used_ == 4) {
      words_ = philox::words(seed_, counter_++, stream_);
      used_ = 0;
    }
    return words_.word[used_++];
  }

 private:
  std::uint64_t seed_, counter_, stream_;
  philox::Words words_{};
  int used_ = 4;
};

// Draws of 64 bits.
class WideDraw {
 public:
  WideDraw(std::uint64_t seed, std::uint64_t offset) : upper_(seed, offset), lower_(seed, offset, 1) {}
  std::uint64_t next() {
    const std::uint64_t upper = upper_.next();
    return upper << 32 | lower_.next();
  }

 private:
  Draw upper_, lower_;
};

// Each element of the output <- value(), in row-major order.
template <class T, class Value>
void generate(const KernelCall& call, Value value) {
  Walk<1>({&call.operands[0]}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    T* to = reinterpret_cast<T*>(first[0]);
    for (std::int64_t i = 0; i < count; ++i) to[i * strides[0]] = store<T>(value());
  });
}

template <class T>
void uniform(const KernelCall& call) {
  const double low = scalar_value(call.scalars[0]), high = scalar_value(call.scalars[1]);
  // As many random bits as the type has, so that no value is rounded up to 1.
  constexpr int kBits = std::is_same_v<T, float16> ? 11 : std::is_same_v<T, bfloat16> ? 8 : 24;
  const auto scaled = [low, high](double unit) {
    const auto value = static_cast<Arithmetic<T>>(philox::in_range(unit, low, high));
    return load(store<T>(value)) < high ? value : static_cast<Arithmetic<T>>(low);  // never `high` by rounding
  };
  if constexpr (std::is_same_v<T, double>) {
    WideDraw draw(call.scalars[2], call.scalars[3]);
    generate<T>(call, [&] { return scaled(philox::unit53(draw.next())); });
  } else {
    Draw draw(call.scalars[2], call.scalars[3]);
    generate<T>(call, [&] { return scaled(philox::unit(draw.next(), kBits)); });
  }
}

template <class T>
void normal(const KernelCall& call) {
  const double mean = scalar_value(call.scalars[0]), deviation = scalar_value(call.scalars[1]);
  if constexpr (std::is_same_v<T, double>) {
    WideDraw draw(call.scalars[2], call.scalars[3]);
    generate<T>(call, [&] { return philox::normal(philox::inside52(draw.next()), mean, deviation); });
  } else {
    Draw draw(call.scalars[2], call.scalars[3]);
    generate<T>(call, [&] { return static_cast<float>(philox::normal(philox::inside(draw.next()), mean, deviation)); });
  }
}

template <class T>
void random_integers(const KernelCall& call) {
  WideDraw draw(call.scalars[2], call.scalars[3]);
  generate<T>(call, [&] {
    const std::uint64_t value = philox::integer_in_range(draw.next(), call.scalars[0], call.scalars[1]);
    return static_cast<Arithmetic<T>>(static_cast<std::int64_t>(value));
  });
}

}  // namespace

void random(const KernelCall& call) {
  const Dtype dtype = call.operands[0].dtype;
  switch (call.kernel) {
    case Kernel::uniform:
      return dispatch_float(dtype, [&]<class T>() { uniform<T>(call); });
    case Kernel::normal:
      return dispatch_float(dtype, [&]<class T>() { normal<T>(call); });
    default:
      return dispatch(dtype, [&]<class T>() { random_integers<T>(call); });
  }
}

void dropout(const KernelCall& call) {
  const double p = scalar_value(call.scalars[0]);
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    const auto scale = static_cast<Arithmetic<T>>(p < 1 ? 1 / (1 - p) : 0);
    Draw draw(call.scalars[1], call.scalars[2]);
    map<T, 1>(call, [&draw, p, scale](auto x) { return x * (philox::is_kept(draw.next(), p) ? scale : 0); });
  });
}

}  // namespace labrig::kernels
