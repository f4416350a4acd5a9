// nll_loss of log probabilities [n, c, s] and class numbers [n, s], and its gradient.
//
//   term  = -weight[t] log p[n, t, s], nothing where t is the ignored class
//   none: out = term      sum: out = sum of terms      mean: out = sum of terms / sum of weights
//
// The sums are taken by blocks over pieces of the terms, whose results one block adds in order.
#include "fault.cuh"
#include "lines.cuh"

namespace labrig::cuda {
namespace {

enum Reduced : std::uint64_t { none = 0, mean = 1, sum = 2 };

struct NllLoss {
  std::int64_t n = 0, c = 0, s = 0;
  std::uint64_t reduced = none;
  std::int64_t ignored = 0;
  View out, total, p, target, weight, dy;  // in the gradient `p` is written
  FaultSite fault;
};

// The class of term i, or -1 where there is nothing to count (ignored; or out of range, which stops the card).
__device__ std::int64_t class_of(const NllLoss& l, int operand, std::int64_t i) {
  const std::int64_t batch = i / l.s, place = i - batch * l.s;
  const auto t = load_as<std::int64_t>(l.target, batch * l.target.strides[0] + place * l.target.strides[1]);
  if (t == l.ignored) return -1;
  if (t >= 0 && t < l.c) return t;
  stop_with(l.fault, operand, i, t, 0, l.c);
  return -1;
}

template <class V>
__device__ V weight_of(const NllLoss& l, std::int64_t t) {
  return l.weight.data == nullptr ? V(1) : load_as<V>(l.weight, t * l.weight.strides[0]);
}

// Term i and its weight.
template <class V>
__device__ Pair<V> term(const NllLoss& l, std::int64_t i) {
  const std::int64_t t = class_of(l, 3, i);
  if (t < 0) return {0, 0};
  const std::int64_t batch = i / l.s, place = i - batch * l.s;
  const V weight = weight_of<V>(l, t);
  const V p = load_as<V>(l.p, batch * l.p.strides[0] + t * l.p.strides[1] + place * l.p.strides[2]);
  return {-weight * p, weight};
}

template <class V>
__global__ void nll_loss_each_kernel(const __grid_constant__ NllLoss l) {
  for (std::int64_t i = first_index(); i < l.n * l.s; i += index_step()) {
    const std::int64_t batch = i / l.s, place = i - batch * l.s;
    store_as(l.out, batch * l.out.strides[0] + place * l.out.strides[1], term<V>(l, i).first);
  }
  if (first_index() == 0) store_as(l.total, 0, V(0));
}

template <class V>
__device__ void store_loss(const NllLoss& l, Pair<V> sums) {
  store_as(l.out, 0, l.reduced == mean ? sums.first / sums.second : sums.first);
  store_as(l.total, 0, sums.second);
}

// partial: null for one block alone, which then writes the loss.
template <class V>
__global__ void nll_loss_sums_kernel(const __grid_constant__ NllLoss l, Pair<V>* partial) {
  __shared__ Pair<V> shared[kThreads];
  const Team team{kThreads, true};
  Pair<V> sums{0, 0};
  for (std::int64_t i = first_index(); i < l.n * l.s; i += index_step()) sums = sums + term<V>(l, i);
  sums = fold_lanes(shared, team, place_in(team), sums, Plus{});
  if (threadIdx.x != 0) return;
  if (partial == nullptr)
    store_loss(l, sums);
  else
    partial[blockIdx.x] = sums;
}

template <class V>
__global__ void nll_loss_rest_kernel(const __grid_constant__ NllLoss l, const Pair<V>* partial, int count) {
  __shared__ Pair<V> shared[kThreads];
  const Team team{kThreads, true};
  Pair<V> sums{0, 0};
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) sums = sums + partial[i];
  sums = fold_lanes(shared, team, place_in(team), sums, Plus{});
  if (threadIdx.x == 0) store_loss(l, sums);
}

template <class V>
__global__ void nll_loss_backward_kernel(const __grid_constant__ NllLoss l) {
  for (std::int64_t i = first_index(); i < l.n * l.c * l.s; i += index_step()) {
    const std::int64_t place = i % l.s, c = i / l.s % l.c, batch = i / l.s / l.c;
    V gradient = 0;
    if (class_of(l, 2, batch * l.s + place) == c) {
      const std::int64_t at = l.reduced == none ? batch * l.dy.strides[0] + place * l.dy.strides[1] : 0;
      gradient = -weight_of<V>(l, c) * load_as<V>(l.dy, at);
      if (l.reduced == mean) gradient /= load_as<V>(l.total, 0);
    }
    store_as(l.p, batch * l.p.strides[0] + c * l.p.strides[1] + place * l.p.strides[2], gradient);
  }
}

NllLoss loss_of(const KernelCall& call, const Operand& p, const Operand& target, const LaunchContext& context) {
  NllLoss l;
  l.n = p.sizes[0];
  l.c = p.sizes[1];
  l.s = p.sizes[2];
  l.reduced = call.scalars[0];
  l.ignored = static_cast<std::int64_t>(call.scalars[1]);
  l.p = view_of(p);
  l.target = view_of(target);
  l.fault = context.fault;
  return l;
}

template <class V>
void launch_forward(const KernelCall& call, const LaunchContext& context) {
  NllLoss l = loss_of(call, call.operands[2], call.operands[3], context);
  l.out = view_of(call.operands[0]);
  l.total = view_of(call.operands[1]);
  l.weight = view_of(call.operands[4]);
  const std::int64_t terms = l.n * l.s;
  if (l.reduced == none) {
    nll_loss_each_kernel<V><<<blocks_for(terms, context), kThreads, 0, context.stream>>>(l);
    return;
  }
  // A block takes at least a few terms a thread.
  const unsigned blocks = blocks_for((terms + 7) / 8, context);
  auto* partial = blocks == 1 ? nullptr : static_cast<Pair<V>*>(context.scratch);
  nll_loss_sums_kernel<V><<<blocks, kThreads, 0, context.stream>>>(l, partial);
  if (blocks > 1) nll_loss_rest_kernel<V><<<1, kThreads, 0, context.stream>>>(l, partial, static_cast<int>(blocks));
}

template <class V>
void launch_backward(const KernelCall& call, const LaunchContext& context) {
  NllLoss l = loss_of(call, call.operands[0], call.operands[2], context);
  l.dy = view_of(call.operands[1]);
  l.weight = view_of(call.operands[3]);
  l.total = view_of(call.operands[4]);
  const std::int64_t count = l.n * l.c * l.s;
  if (count == 0) return;
  nll_loss_backward_kernel<V><<<blocks_for(count, context), kThreads, 0, context.stream>>>(l);
}

}  // namespace

void launch_nll_loss(const KernelCall& call, const LaunchContext& context) {
  const bool wide = call.operands[0].dtype == Dtype::f64;
  if (call.kernel == Kernel::nll_loss_backward)
    wide ? launch_backward<double>(call, context) : launch_backward<float>(call, context);
  else
    wide ? launch_forward<double>(call, context) : launch_forward<float>(call, context);
}

}  // namespace labrig::cuda
