// layer_norm over the columns of x [rows, columns], and its gradients.
//
//   forward   h = (x - mean) rstd        y = h w + b
//   input     dx = rstd (g - mean(g) - h mean(g h)),  g = dy w, means over the row
//   weight    dw = sum dy h,  db = sum dy             sums over the column
#include "lines.cuh"

namespace labrig::cuda {
namespace {

// [rows, columns] operands have two strides, those of a row's statistics one, weight and bias one; no data: absent.
struct LayerNorm {
  std::int64_t rows = 0, columns = 0;
  Team team;
  View out, mean, rstd, x, dy, weight, bias;
};

template <class V>
__device__ V at(const View& view, std::int64_t row, std::int64_t column) {
  return load_as<V>(view, row * view.strides[0] + column * view.strides[1]);
}

// The weight of a column, or what stands for it where there is none.
template <class V>
__device__ V along(const View& view, std::int64_t i, V otherwise) {
  return view.data == nullptr ? otherwise : load_as<V>(view, i * view.strides[0]);
}

template <class V>
__global__ void layer_norm_kernel(const __grid_constant__ LayerNorm n, V eps) {
  __shared__ V shared[kThreads];
  const Place place = place_in(n.team);
  for (std::int64_t first = std::int64_t{blockIdx.x} * n.team.rows(); first < n.rows;
       first += std::int64_t{gridDim.x} * n.team.rows()) {
    const std::int64_t row = first + place.row, columns = row < n.rows ? n.columns : 0;
    V sum = 0, squares = 0;
    for (std::int64_t c = place.lane; c < columns; c += n.team.lanes) sum += at<V>(n.x, row, c);
    const V mean = fold_lanes(shared, n.team, place, sum, Plus{}) / static_cast<V>(n.columns);
    for (std::int64_t c = place.lane; c < columns; c += n.team.lanes) {
      const V apart = at<V>(n.x, row, c) - mean;
      squares += apart * apart;
    }
    squares = fold_lanes(shared, n.team, place, squares, Plus{});
    const V rstd = V(1) / sqrt(squares / static_cast<V>(n.columns) + eps);
    for (std::int64_t c = place.lane; c < columns; c += n.team.lanes) {
      const V y = (at<V>(n.x, row, c) - mean) * rstd * along<V>(n.weight, c, 1) + along<V>(n.bias, c, 0);
      store_as(n.out, row * n.out.strides[0] + c * n.out.strides[1], y);
    }
    if (place.lane == 0 && row < n.rows) {
      store_as(n.mean, row * n.mean.strides[0], mean);
      store_as(n.rstd, row * n.rstd.strides[0], rstd);
    }
  }
}

template <class V>
__global__ void layer_norm_backward_kernel(const __grid_constant__ LayerNorm n) {
  __shared__ Pair<V> shared[kThreads];
  const Place place = place_in(n.team);
  for (std::int64_t first = std::int64_t{blockIdx.x} * n.team.rows(); first < n.rows;
       first += std::int64_t{gridDim.x} * n.team.rows()) {
    const std::int64_t row = first + place.row, columns = row < n.rows ? n.columns : 0;
    V mean = 0, rstd = 0;
    if (row < n.rows) mean = along<V>(n.mean, row, 0), rstd = along<V>(n.rstd, row, 0);
    const auto h = [&](std::int64_t c) { return (at<V>(n.x, row, c) - mean) * rstd; };
    const auto g = [&](std::int64_t c) { return at<V>(n.dy, row, c) * along<V>(n.weight, c, 1); };
    Pair<V> sums{0, 0};
    for (std::int64_t c = place.lane; c < columns; c += n.team.lanes) sums = sums + Pair<V>{g(c), g(c) * h(c)};
    sums = fold_lanes(shared, n.team, place, sums, Plus{});
    const V mean_g = sums.first / static_cast<V>(n.columns), mean_gh = sums.second / static_cast<V>(n.columns);
    for (std::int64_t c = place.lane; c < columns; c += n.team.lanes)
      store_as(n.out, row * n.out.strides[0] + c * n.out.strides[1], rstd * (g(c) - mean_g - h(c) * mean_gh));
  }
}

// `weight` and `bias` are outputs here; either may be absent.
template <class V>
__device__ void store_sums(const LayerNorm& n, std::int64_t column, Pair<V> sums) {
  if (n.weight.data != nullptr) store_as(n.weight, column * n.weight.strides[0], sums.first);
  if (n.bias.data != nullptr) store_as(n.bias, column * n.bias.strides[0], sums.second);
}

// Columns are the lines here, cut into gridDim.y pieces of rows: partial [pieces, columns], null for one piece.
template <class V>
__global__ void layer_norm_weight_kernel(const __grid_constant__ LayerNorm n, Pair<V>* partial) {
  __shared__ Pair<V> shared[kThreads];
  const Place place = place_in(n.team);
  const std::int64_t piece = (n.rows + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * piece;
  const std::int64_t end = begin + piece < n.rows ? begin + piece : n.rows;
  for (std::int64_t first = std::int64_t{blockIdx.x} * n.team.rows(); first < n.columns;
       first += std::int64_t{gridDim.x} * n.team.rows()) {
    const std::int64_t c = first + place.row;
    Pair<V> sums{0, 0};
    for (std::int64_t row = begin + place.lane; row < end && c < n.columns; row += n.team.lanes) {
      const V dy = at<V>(n.dy, row, c);
      sums = sums + Pair<V>{dy * (at<V>(n.x, row, c) - along<V>(n.mean, row, 0)) * along<V>(n.rstd, row, 0), dy};
    }
    sums = fold_lanes(shared, n.team, place, sums, Plus{});
    if (place.lane != 0 || c >= n.columns) continue;
    if (partial == nullptr)
      store_sums(n, c, sums);
    else
      partial[blockIdx.y * n.columns + c] = sums;
  }
}

template <class V>
__global__ void layer_norm_weight_rest_kernel(const __grid_constant__ LayerNorm n, const Pair<V>* partial, int pieces) {
  for (std::int64_t c = first_index(); c < n.columns; c += index_step()) {
    Pair<V> sums{0, 0};
    for (int piece = 0; piece < pieces; ++piece) sums = sums + partial[piece * n.columns + c];
    store_sums(n, c, sums);
  }
}

LayerNorm of_rows(const Operand& x) {
  LayerNorm n;
  n.rows = x.sizes[0];
  n.columns = x.sizes[1];
  n.x = view_of(x);
  n.team = team_for(n.rows, n.columns, n.x.strides[1] <= n.x.strides[0] || n.rows == 1);
  return n;
}

template <class V>
void launch_forward(const KernelCall& call, const LaunchContext& context) {
  LayerNorm n = of_rows(call.operands[3]);
  n.out = view_of(call.operands[0]);
  n.mean = view_of(call.operands[1]);
  n.rstd = view_of(call.operands[2]);
  n.weight = view_of(call.operands[4]);
  n.bias = view_of(call.operands[5]);
  if (n.rows == 0) return;
  layer_norm_kernel<V><<<blocks_for_groups(groups_of(n.team, n.rows), context), kThreads, 0, context.stream>>>(
      n, static_cast<V>(scalar_value(call.scalars[0])));
}

template <class V>
void launch_backward(const KernelCall& call, const LaunchContext& context) {
  LayerNorm n = of_rows(call.operands[2]);
  n.out = view_of(call.operands[0]);
  n.dy = view_of(call.operands[1]);
  n.weight = view_of(call.operands[3]);
  n.mean = view_of(call.operands[4]);
  n.rstd = view_of(call.operands[5]);
  if (n.rows == 0 || n.columns == 0) return;
  layer_norm_backward_kernel<V>
      <<<blocks_for_groups(groups_of(n.team, n.rows), context), kThreads, 0, context.stream>>>(n);
}

template <class V>
void launch_weight_backward(const KernelCall& call, const LaunchContext& context) {
  LayerNorm n = of_rows(call.operands[3]);
  n.weight = view_of(call.operands[0]);
  n.bias = view_of(call.operands[1]);
  n.dy = view_of(call.operands[2]);
  n.mean = view_of(call.operands[4]);
  n.rstd = view_of(call.operands[5]);
  if (n.columns == 0) return;
  n.team = team_for(n.columns, n.rows, n.x.strides[0] < n.x.strides[1]);
  const auto room = static_cast<std::int64_t>(context.scratch_bytes / sizeof(Pair<V>)) / n.columns;
  const std::int64_t groups = groups_of(n.team, n.columns);
  const int pieces = pieces_for(groups, n.rows, n.team.lanes, room, context);
  auto* partial = pieces == 1 ? nullptr : static_cast<Pair<V>*>(context.scratch);
  const dim3 grid(blocks_for_groups(groups, context), static_cast<unsigned>(pieces));
  layer_norm_weight_kernel<V><<<grid, kThreads, 0, context.stream>>>(n, partial);
  if (pieces == 1) return;
  layer_norm_weight_rest_kernel<V><<<blocks_for(n.columns, context), kThreads, 0, context.stream>>>(n, partial, pieces);
}

template <class V>
void launch_for(const KernelCall& call, const LaunchContext& context) {
  if (call.kernel == Kernel::layer_norm) return launch_forward<V>(call, context);
  if (call.kernel == Kernel::layer_norm_backward) return launch_backward<V>(call, context);
  launch_weight_backward<V>(call, context);
}

}  // namespace

void launch_layer_norm(const KernelCall& call, const LaunchContext& context) {
  // The statistics say in which type the arithmetic is done; they are the last operands, or in the forward outputs.
  const Dtype dtype = call.operands[call.kernel == Kernel::layer_norm ? 1 : 4].dtype;
  if (dtype == Dtype::f64)
    launch_for<double>(call, context);
  else
    launch_for<float>(call, context);
}

}  // namespace labrig::cuda
