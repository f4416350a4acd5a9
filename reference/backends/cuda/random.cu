// Random numbers and dropout: value i belongs to element i of the output in row-major order, and is the same bits as on
// the host (ops/philox.hpp). A thread makes the four values that one counter gives.
#include "elements.cuh"
#include "ops/philox.hpp"

namespace labrig::cuda {
namespace {

struct Draw {
  Kernel kernel;
  double first, second;     // low and high; mean and deviation
  std::uint64_t low, high;  // of random_integers
  std::uint64_t seed, offset;
};

// The random bits of four values: 32 of each, and 32 more for those that need them.
struct Four {
  philox::Words upper, lower;
  __device__ std::uint64_t wide(int lane) const {
    return static_cast<std::uint64_t>(upper.word[lane]) << 32 | lower.word[lane];
  }
};

template <class T>
__device__ T uniform(const Draw& draw, const Four& bits, int lane) {
  constexpr int kBits = std::is_same_v<T, float16> ? 11 : std::is_same_v<T, bfloat16> ? 8 : 24;
  double unit = 0;
  if constexpr (std::is_same_v<T, double>)
    unit = philox::unit53(bits.wide(lane));
  else
    unit = philox::unit(bits.upper.word[lane], kBits);
  const T value = narrow<T>(static_cast<Arithmetic<T>>(philox::in_range(unit, draw.first, draw.second)));
  return widen(value) < draw.second ? value : narrow<T>(static_cast<Arithmetic<T>>(draw.first));
}

template <class T>
__device__ T normal(const Draw& draw, const Four& bits, int lane) {
  double inside = 0;
  if constexpr (std::is_same_v<T, double>)
    inside = philox::inside52(bits.wide(lane));
  else
    inside = philox::inside(bits.upper.word[lane]);
  return narrow<T>(static_cast<Arithmetic<T>>(philox::normal(inside, draw.first, draw.second)));
}

template <class T>
__device__ T value_of(const Draw& draw, const Four& bits, int lane) {
  if constexpr (is_float_element<T>) {
    if (draw.kernel == Kernel::uniform) return uniform<T>(draw, bits, lane);
    if (draw.kernel == Kernel::normal) return normal<T>(draw, bits, lane);
  }
  const std::uint64_t value = philox::integer_in_range(bits.wide(lane), draw.low, draw.high);
  return narrow<T>(static_cast<Arithmetic<T>>(static_cast<std::int64_t>(value)));
}

template <class T>
__global__ void random_kernel(const __grid_constant__ Elements elements, const Draw draw) {
  T* out = static_cast<T*>(elements.view[0].data);
  const bool wide = draw.kernel == Kernel::random_integers || std::is_same_v<T, double>;
  for (std::int64_t four = first_index(); four * 4 < elements.count; four += index_step()) {
    Four bits{philox::words(draw.seed, draw.offset + four, 0), {}};
    if (wide) bits.lower = philox::words(draw.seed, draw.offset + four, 1);
    for (int lane = 0; lane < 4 && four * 4 + lane < elements.count; ++lane) {
      std::int64_t offsets[1];
      find_offsets_of<1>(elements, four * 4 + lane, offsets);
      out[offsets[0]] = value_of<T>(draw, bits, lane);
    }
  }
}

template <class T>
__global__ void dropout_kernel(const __grid_constant__ Elements elements, double p, std::uint64_t seed,
                               std::uint64_t offset) {
  T* out = static_cast<T*>(elements.view[0].data);
  const auto scale = static_cast<Arithmetic<T>>(p < 1 ? 1 / (1 - p) : 0);
  for (std::int64_t four = first_index(); four * 4 < elements.count; four += index_step()) {
    const philox::Words words = philox::words(seed, offset + four, 0);
    for (int lane = 0; lane < 4 && four * 4 + lane < elements.count; ++lane) {
      std::int64_t offsets[2];
      find_offsets_of<2>(elements, four * 4 + lane, offsets);
      const Arithmetic<T> x = widen(load_as<T>(elements.view[1], offsets[1]));
      out[offsets[0]] = narrow<T>(x * (philox::is_kept(words.word[lane], p) ? scale : Arithmetic<T>(0)));
    }
  }
}

}  // namespace

void launch_random(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const Draw draw{call.kernel,
                  scalar_value(call.scalars[0]),
                  scalar_value(call.scalars[1]),
                  call.scalars[0],
                  call.scalars[1],
                  call.scalars[2],
                  call.scalars[3]};
  dispatch(call.operands[0].dtype, [&]<class T>() {
    random_kernel<T><<<blocks_for((elements.count + 3) / 4, context), kThreads, 0, context.stream>>>(elements, draw);
  });
}

void launch_dropout(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    dropout_kernel<T><<<blocks_for((elements.count + 3) / 4, context), kThreads, 0, context.stream>>>(
        elements, scalar_value(call.scalars[0]), call.scalars[1], call.scalars[2]);
  });
}

}  // namespace labrig::cuda
