// softmax and log_softmax along any dimension, and their gradients. A line of the dimension is folded twice (its
// maximum, then the sum of exponentials) and written once; the second and third reading come from the cache for all but
// the longest lines.
//
//   softmax      y = exp(x - m) / sum exp(x - m)          dx = y (dy - sum y dy)
//   log_softmax  y = x - m - log sum exp(x - m)           dx = dy - exp(y) sum dy
#include "lines.cuh"

namespace labrig::cuda {
namespace {

struct Lines {
  Elements outer;  // all operands without the dimension
  std::int64_t length = 0;
  std::int64_t strides[3] = {};  // of each operand along it
  Team team;
};

// Operands: y, x.
template <class V>
__global__ void softmax_kernel(const __grid_constant__ Lines lines, bool log_of_it) {
  __shared__ V shared[kThreads];
  const Place place = place_in(lines.team);
  const auto larger = [](V a, V b) { return a != a || a >= b ? a : b; };  // NaN stays
  for (std::int64_t first = std::int64_t{blockIdx.x} * lines.team.rows(); first < lines.outer.count;
       first += std::int64_t{gridDim.x} * lines.team.rows()) {
    const std::int64_t line = first + place.row, length = line < lines.outer.count ? lines.length : 0;
    std::int64_t offsets[2] = {0, 0};
    if (length > 0) find_offsets_of<2>(lines.outer, line, offsets);
    const auto x = [&](std::int64_t i) { return load_as<V>(lines.outer.view[1], offsets[1] + i * lines.strides[1]); };
    V most = -static_cast<V>(INFINITY);
    for (std::int64_t i = place.lane; i < length; i += lines.team.lanes) most = larger(most, x(i));
    most = fold_lanes(shared, lines.team, place, most, larger);
    V sum = 0;
    for (std::int64_t i = place.lane; i < length; i += lines.team.lanes) sum += exp(x(i) - most);
    sum = fold_lanes(shared, lines.team, place, sum, Plus{});
    const V log_sum = log_of_it ? log(sum) : V(0);
    for (std::int64_t i = place.lane; i < length; i += lines.team.lanes) {
      const V y = log_of_it ? x(i) - most - log_sum : exp(x(i) - most) / sum;
      store_as(lines.outer.view[0], offsets[0] + i * lines.strides[0], y);
    }
  }
}

// Operands: dx, dy, y.
template <class V>
__global__ void softmax_backward_kernel(const __grid_constant__ Lines lines, bool log_of_it) {
  __shared__ V shared[kThreads];
  const Place place = place_in(lines.team);
  for (std::int64_t first = std::int64_t{blockIdx.x} * lines.team.rows(); first < lines.outer.count;
       first += std::int64_t{gridDim.x} * lines.team.rows()) {
    const std::int64_t line = first + place.row, length = line < lines.outer.count ? lines.length : 0;
    std::int64_t offsets[3] = {0, 0, 0};
    if (length > 0) find_offsets_of<3>(lines.outer, line, offsets);
    const auto load = [&](int operand, std::int64_t i) {
      return load_as<V>(lines.outer.view[operand], offsets[operand] + i * lines.strides[operand]);
    };
    V sum = 0;
    for (std::int64_t i = place.lane; i < length; i += lines.team.lanes)
      sum += log_of_it ? load(1, i) : load(1, i) * load(2, i);
    sum = fold_lanes(shared, lines.team, place, sum, Plus{});
    for (std::int64_t i = place.lane; i < length; i += lines.team.lanes) {
      const V dy = load(1, i), y = load(2, i);
      store_as(lines.outer.view[0], offsets[0] + i * lines.strides[0], log_of_it ? dy - exp(y) * sum : y * (dy - sum));
    }
  }
}

Lines lines_of(const KernelCall& call, int dim) {
  const bool backward = call.operand_count == 3;
  const Operand &out = call.operands[0], &first = call.operands[1], &second = call.operands[2];
  Lines lines;
  lines.outer = backward ? elements_of({&out, &first, &second}, dim) : elements_of({&out, &first}, dim);
  lines.length = out.sizes[dim];
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (int d = 0; d < lines.outer.dims; ++d) smallest = std::min(smallest, lines.outer.view[1].strides[d]);
  for (int i = 0; i < call.operand_count; ++i)
    lines.strides[i] = call.operands[static_cast<std::size_t>(i)].strides[dim];
  lines.team = team_for(lines.outer.count, lines.length, lines.strides[1] <= smallest);
  return lines;
}

}  // namespace

void launch_softmax(const KernelCall& call, const LaunchContext& context) {
  const Lines lines = lines_of(call, static_cast<int>(call.scalars[0]));
  if (lines.outer.count == 0 || lines.length == 0) return;
  const bool log_of_it = call.kernel == Kernel::log_softmax || call.kernel == Kernel::log_softmax_backward;
  const bool wide = call.operands[0].dtype == Dtype::f64;
  using LinesKernel = void (*)(const Lines, bool);
  const LinesKernel forward = wide ? softmax_kernel<double> : softmax_kernel<float>;
  const LinesKernel backward = wide ? softmax_backward_kernel<double> : softmax_backward_kernel<float>;
  const unsigned blocks = blocks_for_groups(groups_of(lines.team, lines.outer.count), context);
  (call.operand_count == 2 ? forward : backward)<<<blocks, kThreads, 0, context.stream>>>(lines, log_of_it);
}

}  // namespace labrig::cuda
