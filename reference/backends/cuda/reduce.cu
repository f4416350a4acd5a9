// sum, mean, max over one dimension. A block's 256 threads form a grid of `rows` outputs x `lanes` threads that share
// the work of one output; each thread folds every lanes-th element, then the lanes of an output fold their results in
// pairs.
//
//   reduced dimension lies in memory side by side: neighbouring threads are lanes of one output
//   another dimension does:                         neighbouring threads belong to neighbouring outputs
//
// so that neighbouring threads read neighbouring elements in both cases. With few outputs the dimension is also cut
// into chunks, one block each: they write partial results to the stream's scratch memory, which a second launch folds.
// The order of operations depends on shape and card only, so a result is the same bits every time.
#include <limits>

#include "elements.cuh"

namespace labrig::cuda {
namespace {

struct Reduction {
  Elements outer;           // operand 0 the output, operand 1 the input, without the reduced dimension
  std::int64_t length = 0;  // of the reduced dimension
  std::int64_t stride = 0;  // of the input along it
  std::int64_t chunk = 0;   // elements of it that one block folds
  int chunks = 1;           // gridDim.y
  int lanes = 1;            // power of two; outputs of a block: kThreads / lanes
  bool lanes_side_by_side = true;
  std::int64_t mean_of = -1;  // divide by this many at the end; below 0: do not
};

struct Sum {
  template <class V>
  static __host__ __device__ V start() {
    return V{0};
  }
  template <class V>
  static __device__ V fold(V a, V b) {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return static_cast<V>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};

struct Max {
  template <class V>
  static __host__ __device__ V start() {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return INT64_MIN;
    else
      return -static_cast<V>(INFINITY);
  }
  // NaN wins over every number, as in PyTorch.
  template <class V>
  static __device__ V fold(V a, V b) {
    if constexpr (!std::is_same_v<V, std::int64_t>) {
      if (isnan(a)) return a;
      if (isnan(b)) return b;
    }
    return a < b ? b : a;
  }
};

// V is the type of the arithmetic. `partial`: null to write the output, else [outputs, chunks].
template <class Fold, class V>
__global__ void reduce_kernel(const __grid_constant__ Reduction r, V* partial) {
  __shared__ V shared[kThreads];
  const int rows = kThreads / r.lanes;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = r.lanes_side_by_side ? thread / r.lanes : thread % rows;
  const int lane = r.lanes_side_by_side ? thread % r.lanes : thread / rows;
  V* mine = shared + row * r.lanes + lane;
  const std::int64_t begin = std::int64_t{blockIdx.y} * r.chunk;
  const std::int64_t end = begin + r.chunk < r.length ? begin + r.chunk : r.length;

  // All threads of a block go round together: they meet at the barriers.
  for (std::int64_t first = std::int64_t{blockIdx.x} * rows; first < r.outer.count;
       first += std::int64_t{gridDim.x} * rows) {
    const std::int64_t output = first + row;
    V value = Fold::template start<V>();
    std::int64_t offsets[2] = {0, 0};
    if (output < r.outer.count) {
      find_offsets_of<2>(r.outer, output, offsets);
      for (std::int64_t i = begin + lane; i < end; i += r.lanes)
        value = Fold::fold(value, load_as<V>(r.outer.view[1], offsets[1] + i * r.stride));
    }
    *mine = value;
    for (int half = r.lanes / 2; half > 0; half /= 2) {
      __syncthreads();
      if (lane < half) *mine = Fold::fold(mine[0], mine[half]);
    }
    if (lane == 0 && output < r.outer.count) {
      if (partial != nullptr) {
        partial[output * r.chunks + blockIdx.y] = *mine;
      } else {
        V result = *mine;
        if constexpr (is_float_element<V>) {
          if (r.mean_of >= 0) result /= static_cast<V>(r.mean_of);
        }
        store_as(r.outer.view[0], offsets[0], result);
      }
    }
    __syncthreads();  // before the next round overwrites what lane 0 has just read
  }
}

// --- the plan ------------------------------------------------------------------------------------------------------

int power_of_two_at_most(std::int64_t value, int most) {
  int power = 1;
  while (power < most && power * std::int64_t{2} <= value) power *= 2;
  return power;
}

// The smallest stride of the input over which outputs follow one another; large when there is one output.
std::int64_t smallest_outer_stride(const Elements& outer) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (int d = 0; d < outer.dims; ++d)
    if (outer.view[1].strides[d] > 0) smallest = std::min(smallest, outer.view[1].strides[d]);
  return smallest;
}

std::int64_t groups_of(const Reduction& r) {
  const std::int64_t rows = kThreads / r.lanes;
  return (r.outer.count + rows - 1) / rows;
}

Reduction plan_of(const KernelCall& call, std::size_t value_bytes, const LaunchContext& context) {
  const Operand& in = call.operands[1];
  const int dim = static_cast<int>(call.scalars[0]);
  Reduction r;
  r.outer = elements_of(call, dim);
  r.length = in.sizes[dim];
  r.stride = in.strides[dim];
  if (call.kernel == Kernel::mean) r.mean_of = r.length;

  r.lanes_side_by_side = r.stride <= smallest_outer_stride(r.outer);
  const int rows_wanted = r.lanes_side_by_side ? 1 : power_of_two_at_most(r.outer.count, 32);
  r.lanes = power_of_two_at_most(r.length, kThreads / rows_wanted);

  // Cut the dimension where the outputs alone do not keep the card busy and a chunk stays worth a block.
  const std::int64_t groups = groups_of(r);
  const std::int64_t most_by_work = r.length / (r.lanes * std::int64_t{16});
  const std::int64_t most_by_scratch =
      static_cast<std::int64_t>(context.scratch_bytes / value_bytes) / std::max<std::int64_t>(r.outer.count, 1);
  const std::int64_t wanted = context.multiprocessors * std::int64_t{4} / std::max<std::int64_t>(groups, 1);
  const std::int64_t cuts = std::max<std::int64_t>(1, std::min({wanted, most_by_work, most_by_scratch}));
  r.chunk = std::max<std::int64_t>(1, (r.length + cuts - 1) / cuts);
  r.chunks = static_cast<int>(std::max<std::int64_t>(1, (r.length + r.chunk - 1) / r.chunk));
  return r;
}

// The second launch: the partial results of each output, which lie side by side.
Reduction plan_of_rest(const Reduction& first, void* partial, Dtype value_dtype) {
  Reduction r = first;
  View& in = r.outer.view[1];
  in.data = partial;
  in.dtype = value_dtype;
  std::int64_t stride = first.chunks;
  for (int d = r.outer.dims - 1; d >= 0; --d) {
    in.strides[d] = stride;
    stride *= r.outer.sizes[d];
  }
  r.length = r.chunk = first.chunks;
  r.chunks = 1;
  r.stride = 1;
  r.lanes_side_by_side = true;
  r.lanes = power_of_two_at_most(r.length, kThreads);
  return r;
}

template <class Fold, class V>
void launch_planned(const Reduction& r, V* partial, const LaunchContext& context) {
  const std::int64_t columns = std::min(groups_of(r), context.multiprocessors * std::int64_t{16});
  const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(r.chunks));
  reduce_kernel<Fold, V><<<grid, kThreads, 0, context.stream>>>(r, partial);
  check_launch("sum, mean or max");
}

template <class Fold>
void launch_fold(const KernelCall& call, const LaunchContext& context) {
  dispatch(call.operands[0].dtype, [&]<class T>() {
    using V = Arithmetic<T>;
    const Reduction whole = plan_of(call, sizeof(V), context);
    if (whole.outer.count == 0) return;
    if (whole.chunks == 1) return launch_planned<Fold, V>(whole, nullptr, context);
    V* partial = static_cast<V*>(context.scratch);
    launch_planned<Fold, V>(whole, partial, context);
    launch_planned<Fold, V>(plan_of_rest(whole, partial, dtype_of<V>), nullptr, context);
  });
}

}  // namespace

void launch_reduce(const KernelCall& call, const LaunchContext& context) {
  if (call.kernel == Kernel::max)
    launch_fold<Max>(call, context);
  else
    launch_fold<Sum>(call, context);
}

}  // namespace labrig::cuda
