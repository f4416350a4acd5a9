// batch_norm over n and s of x [n, c, s], in three forms. The statistics of a channel come from its n s elements, cut
// into pieces of one block each; the pieces' results (in the stream's scratch memory) are put together in order:
//
//   mean   = sum of n_i mean_i / N                       M2 = sum of squared distances from the mean
//   M2     = M2_a + M2_b + (mean_b - mean_a)^2 n_a n_b / (n_a + n_b)      (Chan et al.)
//   rstd   = 1 / sqrt(M2 / N + eps)                       the running variance takes M2 / (N - 1)
#include "lines.cuh"

namespace labrig::cuda {
namespace {

// [n, c, s] operands have three strides, those of a channel one; no data: absent.
struct BatchNorm {
  std::int64_t n = 0, c = 0, s = 0;
  int pieces = 1;  // of a channel
  View out, mean, rstd, running_mean, running_variance, x, dy, weight, bias;
  __host__ __device__ std::int64_t line() const { return n * s; }
};

template <class V>
__device__ V at(const BatchNorm& b, const View& view, std::int64_t channel, std::int64_t i) {
  const std::int64_t batch = i / b.s, place = i - batch * b.s;
  return load_as<V>(view, batch * view.strides[0] + channel * view.strides[1] + place * view.strides[2]);
}

template <class V>
__device__ V along(const View& view, std::int64_t channel, V otherwise) {
  return view.data == nullptr ? otherwise : load_as<V>(view, channel * view.strides[0]);
}

struct Range {
  std::int64_t begin, end;
};
__device__ Range piece_of(const BatchNorm& b, std::int64_t piece) {
  const std::int64_t length = (b.line() + b.pieces - 1) / b.pieces, begin = piece * length;
  const std::int64_t end = begin + length < b.line() ? begin + length : b.line();
  return {begin < end ? begin : end, end};
}

// Block (piece, channel): partial [c, pieces] <- mean and M2 of the piece.
template <class V>
__global__ void batch_norm_statistics_kernel(const __grid_constant__ BatchNorm b, Pair<V>* partial) {
  __shared__ V shared[kThreads];
  const Team team{kThreads, true};
  const Place place = place_in(team);
  const Range range = piece_of(b, blockIdx.x);
  for (std::int64_t channel = blockIdx.y; channel < b.c; channel += gridDim.y) {
    V sum = 0, squares = 0;
    for (std::int64_t i = range.begin + place.lane; i < range.end; i += kThreads) sum += at<V>(b, b.x, channel, i);
    const auto count = static_cast<V>(range.end - range.begin);
    const V mean = range.begin == range.end ? V(0) : fold_lanes(shared, team, place, sum, Plus{}) / count;
    for (std::int64_t i = range.begin + place.lane; i < range.end; i += kThreads) {
      const V apart = at<V>(b, b.x, channel, i) - mean;
      squares += apart * apart;
    }
    squares = fold_lanes(shared, team, place, squares, Plus{});
    if (place.lane == 0) partial[channel * b.pieces + blockIdx.x] = {mean, squares};
  }
}

template <class V>
__global__ void batch_norm_merge_kernel(const __grid_constant__ BatchNorm b, const Pair<V>* partial, V eps,
                                        V momentum) {
  for (std::int64_t channel = first_index(); channel < b.c; channel += index_step()) {
    V count = 0, mean = 0, squares = 0;
    for (int piece = 0; piece < b.pieces; ++piece) {
      const Range range = piece_of(b, piece);
      const auto more = static_cast<V>(range.end - range.begin);
      if (more == 0) continue;
      const Pair<V> found = partial[channel * b.pieces + piece];
      const V apart = found.first - mean, total = count + more;
      mean += apart * more / total;
      squares += found.second + apart * apart * count * more / total;
      count = total;
    }
    store_as(b.mean, channel * b.mean.strides[0], mean);
    store_as(b.rstd, channel * b.rstd.strides[0], V(1) / sqrt(squares / count + eps));
    const auto mix = [&](const View& running, V value) {
      if (running.data == nullptr) return;
      const std::int64_t place = channel * running.strides[0];
      store_as(running, place, (V(1) - momentum) * load_as<V>(running, place) + momentum * value);
    };
    mix(b.running_mean, mean);
    mix(b.running_variance, squares / (count - V(1)));
  }
}

// rstd from what is given: itself, or (is_variance) the variance that it belongs to.
template <class V>
__device__ V rstd_of(const BatchNorm& b, std::int64_t channel, bool is_variance, V eps) {
  const V given = along<V>(b.rstd, channel, 0);
  return is_variance ? V(1) / sqrt(given + eps) : given;
}

template <class V>
__global__ void batch_norm_apply_kernel(const __grid_constant__ BatchNorm b, bool is_variance, V eps) {
  for (std::int64_t i = first_index(); i < b.n * b.c * b.s; i += index_step()) {
    const std::int64_t place = i % b.s, channel = i / b.s % b.c, batch = i / b.s / b.c;
    const V x = at<V>(b, b.x, channel, batch * b.s + place);
    const V h = (x - along<V>(b.mean, channel, 0)) * rstd_of(b, channel, is_variance, eps);
    store_as(b.out, batch * b.out.strides[0] + channel * b.out.strides[1] + place * b.out.strides[2],
             h * along<V>(b.weight, channel, 1) + along<V>(b.bias, channel, 0));
  }
}

// Block (piece, channel): partial [c, pieces] <- sum of dy and of dy h, where h = (x - mean) rstd.
template <class V>
__global__ void batch_norm_sums_kernel(const __grid_constant__ BatchNorm b, bool is_variance, V eps, Pair<V>* partial) {
  __shared__ Pair<V> shared[kThreads];
  const Team team{kThreads, true};
  const Place place = place_in(team);
  const Range range = piece_of(b, blockIdx.x);
  for (std::int64_t channel = blockIdx.y; channel < b.c; channel += gridDim.y) {
    const V mean = along<V>(b.mean, channel, 0), rstd = rstd_of(b, channel, is_variance, eps);
    Pair<V> sums{0, 0};
    for (std::int64_t i = range.begin + place.lane; i < range.end; i += kThreads) {
      const V dy = at<V>(b, b.dy, channel, i);
      sums = sums + Pair<V>{dy, dy * (at<V>(b, b.x, channel, i) - mean) * rstd};
    }
    sums = fold_lanes(shared, team, place, sums, Plus{});
    if (place.lane == 0) partial[channel * b.pieces + blockIdx.x] = sums;
  }
}

// The pieces added up, in order, into the first of each channel. `weight` and `bias` are outputs here.
template <class V>
__global__ void batch_norm_add_sums_kernel(const __grid_constant__ BatchNorm b, View dweight, View dbias,
                                           Pair<V>* partial) {
  for (std::int64_t channel = first_index(); channel < b.c; channel += index_step()) {
    Pair<V> sums{0, 0};
    for (int piece = 0; piece < b.pieces; ++piece) sums = sums + partial[channel * b.pieces + piece];
    partial[channel * b.pieces] = sums;
    if (dbias.data != nullptr) store_as(dbias, channel * dbias.strides[0], sums.first);
    if (dweight.data != nullptr) store_as(dweight, channel * dweight.strides[0], sums.second);
  }
}

// dx = w rstd (dy - mean(dy) - h mean(dy h)); with statistics that are no function of x: dx = w rstd dy.
template <class V>
__global__ void batch_norm_backward_kernel(const __grid_constant__ BatchNorm b, bool is_variance, V eps,
                                           const Pair<V>* sums) {
  const auto count = static_cast<V>(b.line());
  for (std::int64_t i = first_index(); i < b.n * b.c * b.s; i += index_step()) {
    const std::int64_t place = i % b.s, channel = i / b.s % b.c, batch = i / b.s / b.c;
    const V rstd = rstd_of(b, channel, is_variance, eps);
    V dx = at<V>(b, b.dy, channel, batch * b.s + place);
    if (!is_variance) {
      const V h = (at<V>(b, b.x, channel, batch * b.s + place) - along<V>(b.mean, channel, 0)) * rstd;
      const Pair<V> sum = sums[channel * b.pieces];
      dx -= (sum.first + h * sum.second) / count;
    }
    store_as(b.out, batch * b.out.strides[0] + channel * b.out.strides[1] + place * b.out.strides[2],
             dx * rstd * along<V>(b.weight, channel, 1));
  }
}

BatchNorm of_shape(const Operand& x) {
  BatchNorm b;
  b.n = x.sizes[0];
  b.c = x.sizes[1];
  b.s = x.sizes[2];
  b.x = view_of(x);
  return b;
}

// Blocks (piece, channel): pieces so many that their results fit into the scratch memory, which has room for millions
// of channels.
dim3 cut(BatchNorm& b, std::size_t bytes_a_piece, const LaunchContext& context) {
  const auto room = static_cast<std::int64_t>(context.scratch_bytes / bytes_a_piece);
  if (room < b.c)
    throw Error("too-many-channels",
                "batch_norm of " + std::to_string(b.c) + " channels does not fit into the card's scratch memory",
                "the statistics of all channels are put together there, and it has room for " + std::to_string(room),
                "normalise the channels in several parts");
  b.pieces = pieces_for(b.c, b.line(), kThreads, room / b.c, context);
  return {static_cast<unsigned>(b.pieces), static_cast<unsigned>(std::min<std::int64_t>(b.c, 65535))};
}

template <class V>
void launch_forward(const KernelCall& call, const LaunchContext& context) {
  BatchNorm b = of_shape(call.operands[5]);
  b.out = view_of(call.operands[0]);
  b.mean = view_of(call.operands[1]);
  b.rstd = view_of(call.operands[2]);
  b.running_mean = view_of(call.operands[3]);
  b.running_variance = view_of(call.operands[4]);
  b.weight = view_of(call.operands[6]);
  b.bias = view_of(call.operands[7]);
  if (b.n * b.c * b.s == 0) return;
  const V eps = static_cast<V>(scalar_value(call.scalars[0])), momentum = static_cast<V>(scalar_value(call.scalars[1]));
  auto* partial = static_cast<Pair<V>*>(context.scratch);
  const dim3 grid = cut(b, sizeof(Pair<V>), context);
  batch_norm_statistics_kernel<V><<<grid, kThreads, 0, context.stream>>>(b, partial);
  batch_norm_merge_kernel<V><<<blocks_for(b.c, context), kThreads, 0, context.stream>>>(b, partial, eps, momentum);
  batch_norm_apply_kernel<V><<<blocks_for(b.n * b.c * b.s, context), kThreads, 0, context.stream>>>(b, false, eps);
}

template <class V>
void launch_eval(const KernelCall& call, const LaunchContext& context) {
  BatchNorm b = of_shape(call.operands[1]);
  b.out = view_of(call.operands[0]);
  b.mean = view_of(call.operands[2]);
  b.rstd = view_of(call.operands[3]);
  b.weight = view_of(call.operands[4]);
  b.bias = view_of(call.operands[5]);
  if (b.n * b.c * b.s == 0) return;
  batch_norm_apply_kernel<V><<<blocks_for(b.n * b.c * b.s, context), kThreads, 0, context.stream>>>(
      b, true, static_cast<V>(scalar_value(call.scalars[0])));
}

template <class V>
void launch_backward(const KernelCall& call, const LaunchContext& context) {
  BatchNorm b = of_shape(call.operands[4]);
  b.out = view_of(call.operands[0]);
  const View dweight = view_of(call.operands[1]), dbias = view_of(call.operands[2]);
  b.dy = view_of(call.operands[3]);
  b.weight = view_of(call.operands[5]);
  b.mean = view_of(call.operands[6]);
  b.rstd = view_of(call.operands[7]);
  if (b.c == 0) return;
  const bool is_variance = call.scalars[0] == 0;
  const V eps = static_cast<V>(scalar_value(call.scalars[1]));
  auto* partial = static_cast<Pair<V>*>(context.scratch);
  const dim3 grid = cut(b, sizeof(Pair<V>), context);
  batch_norm_sums_kernel<V><<<grid, kThreads, 0, context.stream>>>(b, is_variance, eps, partial);
  batch_norm_add_sums_kernel<V><<<blocks_for(b.c, context), kThreads, 0, context.stream>>>(b, dweight, dbias, partial);
  if (b.line() == 0) return;
  batch_norm_backward_kernel<V>
      <<<blocks_for(b.n * b.c * b.s, context), kThreads, 0, context.stream>>>(b, is_variance, eps, partial);
}

template <class V>
void launch_for(const KernelCall& call, const LaunchContext& context) {
  if (call.kernel == Kernel::batch_norm) return launch_forward<V>(call, context);
  if (call.kernel == Kernel::batch_norm_eval) return launch_eval<V>(call, context);
  launch_backward<V>(call, context);
}

}  // namespace

void launch_batch_norm(const KernelCall& call, const LaunchContext& context) {
  if (call.operands[0].dtype == Dtype::f64)
    launch_for<double>(call, context);
  else
    launch_for<float>(call, context);
}

}  // namespace labrig::cuda
