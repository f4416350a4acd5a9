// index: out [indices' shape, rest of x] <- x[i0, i1, …], and index_add, its gradient. Indices are checked on the card,
// which stops when one lies outside its dimension.
//
// index_add adds in the order of the indices, also where one occurs twice, and needs no memory for that: every block
// looks through all indices, 256 at a time, and adds the rows that are its own (row number modulo the number of
// blocks). All rows of one number belong to one block, so that no two blocks write to the same place.
#include "fault.cuh"
#include "lines.cuh"

namespace labrig::cuda {
namespace {

constexpr int kFirstIndex = 2, kMaxIndices = 4;

struct Indexed {
  Elements indices;                      // the tensors of indices, over their common shape
  int count = 0;                         // of them
  bool from_start_only = false;          // no index below 0
  std::int64_t sizes[kMaxIndices] = {};  // of the dimensions of x that they stand for
  std::int64_t x_strides[kMaxIndices] = {};
  Elements rest;  // operand 0 of `rest`: what is written; 1: what is read; over the dimensions that are not indexed
  Elements lead;  // what has the indices' shape in front (out of index, values of index_add), over that shape
  FaultSite fault;
};

struct Row {
  std::int64_t offset;  // in x, of the row
  bool valid;
};

// The row of x that index number `position` stands for.
__device__ Row row_of(const Indexed& x, std::int64_t position) {
  std::int64_t offsets[kMaxIndices], offset = 0;
  find_offsets_of<kMaxIndices>(x.indices, position, offsets);
  for (int k = 0; k < x.count; ++k) {
    std::int64_t value = static_cast<const std::int64_t*>(x.indices.view[k].data)[offsets[k]];
    const std::int64_t lowest = x.from_start_only ? 0 : -x.sizes[k];
    if (value < lowest || value >= x.sizes[k]) {
      stop_with(x.fault, kFirstIndex + k, position, value, lowest, x.sizes[k]);
      return {0, false};
    }
    if (value < 0) value += x.sizes[k];
    offset += value * x.x_strides[k];
  }
  return {offset, true};
}

template <class Bits>
__global__ void index_kernel(const __grid_constant__ Indexed x) {
  Bits* out = static_cast<Bits*>(x.rest.view[0].data);
  const Bits* from = static_cast<const Bits*>(x.rest.view[1].data);
  for (std::int64_t i = first_index(); i < x.indices.count * x.rest.count; i += index_step()) {
    const std::int64_t position = i / x.rest.count, within = i - position * x.rest.count;
    const Row row = row_of(x, position);
    if (!row.valid) continue;
    std::int64_t lead[1], rest[2];
    find_offsets_of<1>(x.lead, position, lead);
    find_offsets_of<2>(x.rest, within, rest);
    out[lead[0] + rest[0]] = from[row.offset + rest[1]];
  }
}

// Block (b, y) adds the rows whose number is b modulo gridDim.x, in columns y, y + gridDim.y, … of kThreads elements.
// The number of a row is its offset in x: equal rows have equal ones.
template <class T>
__global__ void index_add_kernel(const __grid_constant__ Indexed x) {
  __shared__ std::int64_t mine_offset[kThreads], mine_position[kThreads];
  __shared__ int found_by_warp[kThreads / 32];
  T* out = static_cast<T*>(x.rest.view[0].data);
  const T* values = static_cast<const T*>(x.rest.view[1].data);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  for (std::int64_t start = 0; start < x.indices.count; start += kThreads) {
    const std::int64_t position = start + thread;
    Row row{0, false};
    if (position < x.indices.count) row = row_of(x, position);
    // A cheap hash, so that strides that are multiples of the number of blocks spread too.
    const auto number = static_cast<std::uint64_t>(row.offset) * 0x9E3779B97F4A7C15ULL >> 32;
    const bool is_mine = row.valid && number % gridDim.x == blockIdx.x;
    const unsigned in_warp = __ballot_sync(~0U, is_mine);
    if (thread % 32 == 0) found_by_warp[warp] = __popc(in_warp);
    __syncthreads();
    int before = 0, found = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
      if (w < warp) before += found_by_warp[w];
      found += found_by_warp[w];
    }
    if (is_mine) {
      const int at = before + __popc(in_warp & ((1U << (thread % 32)) - 1));
      mine_offset[at] = row.offset;
      mine_position[at] = position;
    }
    __syncthreads();
    for (std::int64_t within = std::int64_t{blockIdx.y} * kThreads + thread; within < x.rest.count;
         within += std::int64_t{gridDim.y} * kThreads) {
      std::int64_t lead[1], rest[2];
      find_offsets_of<2>(x.rest, within, rest);
      for (int k = 0; k < found; ++k) {
        find_offsets_of<1>(x.lead, mine_position[k], lead);
        T& to = out[mine_offset[k] + rest[0]];
        const T value = values[lead[0] + rest[1]];
        to = narrow<T>(widen(to) + widen(value));
      }
    }
    __syncthreads();  // before the next round overwrites the list
  }
}

// A part of an operand's dimensions, from `first` on, `count` of them.
Operand part_of(const Operand& operand, int first, int count) {
  Operand part = operand;
  part.sizes = part.strides = {};
  for (int d = first; d < first + count; ++d) {
    part.sizes.push_back(operand.sizes[d]);
    part.strides.push_back(operand.strides[d]);
  }
  return part;
}

// `x` is what the indices point into, `line` what has their shape in front.
Indexed indexed_by(const KernelCall& call, const Operand& x, const Operand& line, const LaunchContext& context) {
  Indexed result;
  result.from_start_only = call.scalars[0] != 0;
  result.fault = context.fault;
  const Operand* tensors[kMaxIndices];
  for (int i = kFirstIndex; i < call.operand_count; ++i) {
    const Operand& index = call.operands[static_cast<std::size_t>(i)];
    if (i > kFirstIndex && is_absent(index)) break;
    tensors[result.count] = &index;
    result.sizes[result.count] = x.sizes[result.count];
    result.x_strides[result.count] = x.strides[result.count];
    ++result.count;
  }
  // Those that are absent are not read: the first stands in for them.
  for (int k = result.count; k < kMaxIndices; ++k) tensors[k] = tensors[0];
  result.indices = elements_of({tensors[0], tensors[1], tensors[2], tensors[3]});
  const int shape = call.operands[kFirstIndex].sizes.count(), rest = x.sizes.count() - result.count;
  const Operand x_rest = part_of(x, result.count, rest), line_rest = part_of(line, shape, rest);
  const bool adds = call.kernel == Kernel::index_add;
  result.rest = elements_of({adds ? &x_rest : &line_rest, adds ? &line_rest : &x_rest});
  const Operand front = part_of(line, 0, shape);
  result.lead = elements_of({&front});
  return result;
}

}  // namespace

void launch_index(const KernelCall& call, const LaunchContext& context) {
  const Indexed x = indexed_by(call, call.operands[1], call.operands[0], context);
  const std::int64_t count = x.indices.count * x.rest.count;
  if (count == 0) return;
  dispatch_bits(call.operands[0].dtype, [&]<class Bits>() {
    index_kernel<Bits><<<blocks_for(count, context), kThreads, 0, context.stream>>>(x);
  });
}

void launch_index_add(const KernelCall& call, const LaunchContext& context) {
  const Indexed x = indexed_by(call, call.operands[0], call.operands[1], context);
  if (x.indices.count * x.rest.count == 0) return;
  const std::int64_t columns = (x.rest.count + kThreads - 1) / kThreads;
  const std::int64_t blocks = std::int64_t{context.multiprocessors} * 8;
  const auto across = static_cast<unsigned>(std::min<std::int64_t>({columns, blocks, 65535}));
  const auto down = static_cast<unsigned>(std::clamp<std::int64_t>(blocks / across, 1, x.indices.count));
  dispatch_float(call.operands[0].dtype,
                 [&]<class T>() { index_add_kernel<T><<<dim3(down, across), kThreads, 0, context.stream>>>(x); });
}

}  // namespace labrig::cuda
