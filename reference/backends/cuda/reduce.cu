// sum, mean, max, norm, argmax: over every dimension in which the output has size 1. Each output is the fold of one
// line, which may run through several dimensions of the input (lines.cuh). With few outputs the line is also cut into
// pieces, one block each: they write partial results to the stream's scratch memory, which a second launch folds.
#include "lines.cuh"

namespace labrig::cuda {
namespace {

struct Reduction {
  Elements outer;           // operand 0 the output, operand 1 the input, over the dimensions that stay
  Elements line;            // the input over those that are reduced
  std::int64_t length = 0;  // elements of a line
  std::int64_t piece = 0;   // elements of it that one block folds
  int pieces = 1;           // gridDim.y
  Team team;
  std::int64_t mean_of = -1;  // divide by this many at the end; below 0: do not
};

// --- folds: from(value, its number in the line), fold, finish ------------------------------------------------------

template <class V>
struct Sum {
  using Partial = V;
  static __device__ V start() { return V{0}; }
  static __device__ V from(V value, std::int64_t) { return value; }
  __device__ V operator()(V a, V b) const {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return static_cast<V>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
  static __device__ V finish(V sum, std::int64_t mean_of) {
    return mean_of < 0 || std::is_same_v<V, std::int64_t> ? sum : sum / static_cast<V>(mean_of);
  }
};

template <class V>
struct Norm : Sum<V> {
  static __device__ V from(V value, std::int64_t) { return value * value; }
  static __device__ V finish(V sum, std::int64_t) { return sqrt(sum); }
};

template <class V>
__device__ bool is_nan(V value) {
  return value != value;
}

template <class V>
struct Max {
  using Partial = V;
  static __device__ V start() {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return INT64_MIN;
    else
      return -static_cast<V>(INFINITY);
  }
  static __device__ V from(V value, std::int64_t) { return value; }
  // NaN wins over every number, as in PyTorch.
  __device__ V operator()(V a, V b) const { return is_nan(a) || (a >= b && !is_nan(b)) ? a : b; }
  static __device__ V finish(V value, std::int64_t) { return value; }
};

template <class V>
struct Best {
  V value;
  std::int64_t index;
};

// The first of the largest; a NaN is larger than every number.
template <class V>
struct ArgMax {
  using Partial = Best<V>;
  static __device__ Best<V> start() { return {Max<V>::start(), INT64_MAX}; }
  static __device__ Best<V> from(V value, std::int64_t index) { return {value, index}; }
  __device__ Best<V> operator()(Best<V> a, Best<V> b) const {
    const bool a_is_nan = is_nan(a.value), b_is_nan = is_nan(b.value);
    const bool equal = a.value == b.value || (a_is_nan && b_is_nan);
    if (equal) return a.index < b.index ? a : b;
    return a_is_nan || (a.value > b.value && !b_is_nan) ? a : b;
  }
  static __device__ std::int64_t finish(Best<V> best, std::int64_t) { return best.index; }
};

// `read`: null to read the input, else [outputs, r.length] partial results. `written`: null to write the output, else
// [outputs, r.pieces]. V is the type of the arithmetic.
template <class Fold, class V, class P = typename Fold::Partial>
__global__ void reduce_kernel(const __grid_constant__ Reduction r, const P* read, P* written) {
  __shared__ P shared[kThreads];
  const Place place = place_in(r.team);
  const std::int64_t begin = std::int64_t{blockIdx.y} * r.piece;
  const std::int64_t end = begin + r.piece < r.length ? begin + r.piece : r.length;
  const Fold fold;

  // All threads of a block go round together: they meet at the barriers.
  for (std::int64_t first = std::int64_t{blockIdx.x} * r.team.rows(); first < r.outer.count;
       first += std::int64_t{gridDim.x} * r.team.rows()) {
    const std::int64_t output = first + place.row;
    P value = Fold::start();
    std::int64_t offsets[2] = {0, 0}, within[1];
    if (output < r.outer.count) {
      find_offsets_of<2>(r.outer, output, offsets);
      for (std::int64_t i = begin + place.lane; i < end; i += r.team.lanes) {
        if (read != nullptr) {
          value = fold(value, read[output * r.length + i]);
        } else {
          find_offsets_of<1>(r.line, i, within);
          value = fold(value, Fold::from(load_as<V>(r.outer.view[1], offsets[1] + within[0]), i));
        }
      }
    }
    value = fold_lanes(shared, r.team, place, value, fold);
    if (place.lane != 0 || output >= r.outer.count) continue;
    if (written != nullptr)
      written[output * r.pieces + blockIdx.y] = value;
    else
      store_as(r.outer.view[0], offsets[0], Fold::finish(value, r.mean_of));
  }
}

// --- the plan ------------------------------------------------------------------------------------------------------

// The smallest stride of the input over which outputs follow one another; large when there is one output.
std::int64_t smallest_outer_stride(const Elements& outer) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (int d = 0; d < outer.dims; ++d)
    if (outer.view[1].strides[d] > 0) smallest = std::min(smallest, outer.view[1].strides[d]);
  return smallest;
}

// The input over the dimensions that are reduced. (Along one dimension memory order is its own order: argmax counts.)
Elements line_of(const Operand& out, const Operand& in) {
  Operand line = in;
  line.sizes = line.strides = {};
  for (int d = 0; d < in.sizes.count(); ++d) {
    if (out.sizes[d] != 1) continue;
    line.sizes.push_back(in.sizes[d]);
    line.strides.push_back(in.strides[d]);
  }
  return elements_in_memory_order(line);
}

Reduction plan_of(const KernelCall& call, std::size_t partial_bytes, const LaunchContext& context) {
  const Operand &out = call.operands[0], &in = call.operands[1];
  Reduction r;
  r.outer = elements_of({&out, &in});
  r.line = line_of(out, in);
  r.length = r.line.count;
  if (call.kernel == Kernel::mean) r.mean_of = r.length;

  const std::int64_t stride = r.line.dims == 0 ? 1 : r.line.view[0].strides[r.line.dims - 1];
  r.team = team_for(r.outer.count, r.length, stride <= smallest_outer_stride(r.outer));
  const auto room = static_cast<std::int64_t>(context.scratch_bytes / partial_bytes);
  const int pieces = pieces_for(groups_of(r.team, r.outer.count), r.length, r.team.lanes,
                                room / std::max<std::int64_t>(r.outer.count, 1), context);
  r.piece = std::max<std::int64_t>(1, (r.length + pieces - 1) / pieces);
  r.pieces = static_cast<int>(std::max<std::int64_t>(1, (r.length + r.piece - 1) / r.piece));
  return r;
}

// The second launch: the partial results of each output, which lie side by side.
Reduction plan_of_rest(const Reduction& first) {
  Reduction r = first;
  r.length = r.piece = first.pieces;
  r.pieces = 1;
  r.team = team_for(r.outer.count, r.length, true);
  return r;
}

template <class Fold, class V>
void launch_planned(const Reduction& r, const typename Fold::Partial* read, typename Fold::Partial* written,
                    const LaunchContext& context) {
  const dim3 grid(blocks_for_groups(groups_of(r.team, r.outer.count), context), static_cast<unsigned>(r.pieces));
  reduce_kernel<Fold, V><<<grid, kThreads, 0, context.stream>>>(r, read, written);
}

template <class Fold, class V>
void launch_fold(const KernelCall& call, const LaunchContext& context) {
  const Reduction whole = plan_of(call, sizeof(typename Fold::Partial), context);
  if (whole.outer.count == 0) return;
  if (whole.pieces == 1) return launch_planned<Fold, V>(whole, nullptr, nullptr, context);
  auto* partial = static_cast<typename Fold::Partial*>(context.scratch);
  launch_planned<Fold, V>(whole, nullptr, partial, context);
  launch_planned<Fold, V>(plan_of_rest(whole), partial, nullptr, context);
}

}  // namespace

void launch_reduce(const KernelCall& call, const LaunchContext& context) {
  // Of an argmax the input's type is computed in: the output is an index.
  const Dtype dtype = call.operands[call.kernel == Kernel::argmax ? 1 : 0].dtype;
  dispatch(dtype, [&]<class T>() {
    using V = Arithmetic<T>;
    if (call.kernel == Kernel::max) return launch_fold<Max<V>, V>(call, context);
    if (call.kernel == Kernel::argmax) return launch_fold<ArgMax<V>, V>(call, context);
    if constexpr (is_float_element<T>) {
      if (call.kernel == Kernel::norm) return launch_fold<Norm<V>, V>(call, context);
    }
    launch_fold<Sum<V>, V>(call, context);
  });
}

}  // namespace labrig::cuda
