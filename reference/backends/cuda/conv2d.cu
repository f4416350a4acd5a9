// conv2d and its two gradients, each a matrix product of which one side is read straight from the tensors ("implicit"):
// nothing is unfolded into memory. A block computes 64 x 64 results; per step it brings 16 terms of each into shared
// memory, and each of its 256 threads adds them to 4 x 4 results in registers.
//
//   result [row, column] <- sum over the depth of left [row, depth] right [depth, column]
//
//                          row               column            depth
//   conv2d                 n, y', x'         o                 c, ky, kx
//   conv2d_input_backward  n, y, x           c                 o, ky, kx
//   conv2d_weight_backward o                 c, ky, kx         n, y', x'
//
// where y = y' stride + ky - padding. With few results the depth is cut into pieces, one block each, whose partial
// results (in the stream's scratch memory) a second launch adds in order.
#include "lines.cuh"

namespace labrig::cuda {
namespace {

struct Conv {
  View image, weight, map, bias;  // [n, c, h, w]; [o, c, kh, kw]; [n, o, h', w']; [o] or no data
  std::int64_t n, c, h, w, o, kh, kw, map_h, map_w;
  std::int64_t stride_h, stride_w, padding_h, padding_w;
};

// A position in one of the tensors: up to three coordinates.
struct At {
  std::int64_t a, y, x;
};
__device__ At split(std::int64_t i, std::int64_t height, std::int64_t width) {
  const std::int64_t line = i / width;
  return {line / height, line % height, i % width};
}

__device__ std::int64_t offset(const View& view, std::int64_t a, std::int64_t b, std::int64_t y, std::int64_t x) {
  return a * view.strides[0] + b * view.strides[1] + y * view.strides[2] + x * view.strides[3];
}

template <class T>
__device__ Arithmetic<T> element(const View& view, std::int64_t a, std::int64_t b, std::int64_t y, std::int64_t x) {
  return widen(static_cast<const T*>(view.data)[offset(view, a, b, y, x)]);
}

template <class T>
__device__ void put(const View& view, std::int64_t a, std::int64_t b, std::int64_t y, std::int64_t x,
                    Arithmetic<T> value) {
  static_cast<T*>(view.data)[offset(view, a, b, y, x)] = narrow<T>(value);
}

// The image at (n, c), where the weight's (ky, kx) meets the map's (y, x); zero in the padding.
template <class T>
__device__ Arithmetic<T> image_under(const Conv& v, const At& map, std::int64_t c, std::int64_t ky, std::int64_t kx) {
  const std::int64_t y = map.y * v.stride_h + ky - v.padding_h, x = map.x * v.stride_w + kx - v.padding_w;
  return y >= 0 && y < v.h && x >= 0 && x < v.w ? element<T>(v.image, map.a, c, y, x) : Arithmetic<T>(0);
}

// The three products: how rows, columns and depths are counted, and what they stand for.
struct Forward {
  static __host__ __device__ std::int64_t rows(const Conv& v) { return v.n * v.map_h * v.map_w; }
  static __host__ __device__ std::int64_t columns(const Conv& v) { return v.o; }
  static __host__ __device__ std::int64_t depths(const Conv& v) { return v.c * v.kh * v.kw; }
  static __device__ At row(const Conv& v, std::int64_t i) { return split(i, v.map_h, v.map_w); }
  static __device__ At column(const Conv&, std::int64_t i) { return {i, 0, 0}; }
  static __device__ At depth(const Conv& v, std::int64_t i) { return split(i, v.kh, v.kw); }
  template <class T>
  static __device__ Arithmetic<T> left(const Conv& v, const At& row, const At& depth) {
    return image_under<T>(v, row, depth.a, depth.y, depth.x);
  }
  template <class T>
  static __device__ Arithmetic<T> right(const Conv& v, const At& depth, const At& column) {
    return element<T>(v.weight, column.a, depth.a, depth.y, depth.x);
  }
  template <class T>
  static __device__ void store(const Conv& v, const At& row, const At& column, Arithmetic<T> sum) {
    if (v.bias.data != nullptr) sum += widen(static_cast<const T*>(v.bias.data)[column.a * v.bias.strides[0]]);
    put<T>(v.map, row.a, column.a, row.y, row.x, sum);
  }
};

struct InputBackward {
  static __host__ __device__ std::int64_t rows(const Conv& v) { return v.n * v.h * v.w; }
  static __host__ __device__ std::int64_t columns(const Conv& v) { return v.c; }
  static __host__ __device__ std::int64_t depths(const Conv& v) { return v.o * v.kh * v.kw; }
  static __device__ At row(const Conv& v, std::int64_t i) { return split(i, v.h, v.w); }
  static __device__ At column(const Conv&, std::int64_t i) { return {i, 0, 0}; }
  static __device__ At depth(const Conv& v, std::int64_t i) { return split(i, v.kh, v.kw); }
  // The map where the weight's (ky, kx) lies on this place of the image; zero where it never does.
  template <class T>
  static __device__ Arithmetic<T> left(const Conv& v, const At& row, const At& depth) {
    const std::int64_t y = row.y + v.padding_h - depth.y, x = row.x + v.padding_w - depth.x;
    if (y < 0 || x < 0 || y % v.stride_h != 0 || x % v.stride_w != 0) return 0;
    const std::int64_t map_y = y / v.stride_h, map_x = x / v.stride_w;
    return map_y < v.map_h && map_x < v.map_w ? element<T>(v.map, row.a, depth.a, map_y, map_x) : Arithmetic<T>(0);
  }
  template <class T>
  static __device__ Arithmetic<T> right(const Conv& v, const At& depth, const At& column) {
    return element<T>(v.weight, depth.a, column.a, depth.y, depth.x);
  }
  template <class T>
  static __device__ void store(const Conv& v, const At& row, const At& column, Arithmetic<T> sum) {
    put<T>(v.image, row.a, column.a, row.y, row.x, sum);
  }
};

struct WeightBackward {
  static __host__ __device__ std::int64_t rows(const Conv& v) { return v.o; }
  static __host__ __device__ std::int64_t columns(const Conv& v) { return v.c * v.kh * v.kw; }
  static __host__ __device__ std::int64_t depths(const Conv& v) { return v.n * v.map_h * v.map_w; }
  static __device__ At row(const Conv&, std::int64_t i) { return {i, 0, 0}; }
  static __device__ At column(const Conv& v, std::int64_t i) { return split(i, v.kh, v.kw); }
  static __device__ At depth(const Conv& v, std::int64_t i) { return split(i, v.map_h, v.map_w); }
  template <class T>
  static __device__ Arithmetic<T> left(const Conv& v, const At& row, const At& depth) {
    return element<T>(v.map, depth.a, row.a, depth.y, depth.x);
  }
  template <class T>
  static __device__ Arithmetic<T> right(const Conv& v, const At& depth, const At& column) {
    return image_under<T>(v, depth, column.a, column.y, column.x);
  }
  template <class T>
  static __device__ void store(const Conv& v, const At& row, const At& column, Arithmetic<T> sum) {
    put<T>(v.weight, row.a, column.a, column.y, column.x, sum);
  }
};

constexpr int kSide = 64, kStep = 16, kEach = 4;  // of a tile; terms at a time; results of a thread along each side
constexpr int kAcross = kSide / kEach;            // threads along each side
static_assert(kAcross * kAcross == kThreads && kThreads % kSide == 0);

// Block (tile, piece). partial: null for one piece, else [pieces, rows, columns].
template <class P, class T>
__global__ void conv_kernel(const __grid_constant__ Conv v, std::int64_t piece, Arithmetic<T>* partial) {
  using V = Arithmetic<T>;
  __shared__ V left[kStep][kSide + 1], right[kStep][kSide + 1];
  const std::int64_t rows = P::rows(v), columns = P::columns(v), depths = P::depths(v);
  const std::int64_t tiles_across = (columns + kSide - 1) / kSide;
  const std::int64_t tiles = tiles_across * ((rows + kSide - 1) / kSide);
  const std::int64_t begin = std::int64_t{blockIdx.y} * piece;
  const std::int64_t end = begin + piece < depths ? begin + piece : depths;
  const int thread = static_cast<int>(threadIdx.x), x = thread % kAcross, y = thread / kAcross;
  const int side = thread % kSide, first_depth = thread / kSide;  // what this thread brings

  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t top = tile / tiles_across * kSide, first = tile % tiles_across * kSide;
    const bool has_row = top + side < rows, has_column = first + side < columns;
    const At row = P::row(v, has_row ? top + side : 0), column = P::column(v, has_column ? first + side : 0);
    V sums[kEach][kEach] = {};
    for (std::int64_t start = begin; start < end; start += kStep) {
      for (int d = first_depth; d < kStep; d += kThreads / kSide) {
        const bool has_depth = start + d < end;
        const At depth = P::depth(v, has_depth ? start + d : 0);
        left[d][side] = has_depth && has_row ? P::template left<T>(v, row, depth) : V(0);
        right[d][side] = has_depth && has_column ? P::template right<T>(v, depth, column) : V(0);
      }
      __syncthreads();
#pragma unroll
      for (int d = 0; d < kStep; ++d) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
#pragma unroll
          for (int j = 0; j < kEach; ++j) sums[i][j] += left[d][x + i * kAcross] * right[d][y + j * kAcross];
        }
      }
      __syncthreads();
    }
    // Neighbouring threads hold neighbouring rows.
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) {
        const std::int64_t r = top + x + i * kAcross, c = first + y + j * kAcross;
        if (r >= rows || c >= columns) continue;
        if (partial != nullptr)
          partial[(std::int64_t{blockIdx.y} * rows + r) * columns + c] = sums[i][j];
        else
          P::template store<T>(v, P::row(v, r), P::column(v, c), sums[i][j]);
      }
    }
  }
}

template <class P, class T>
__global__ void conv_rest_kernel(const __grid_constant__ Conv v, const Arithmetic<T>* partial, int pieces) {
  const std::int64_t columns = P::columns(v), results = P::rows(v) * columns;
  for (std::int64_t i = first_index(); i < results; i += index_step()) {
    Arithmetic<T> sum = 0;
    for (int piece = 0; piece < pieces; ++piece) sum += partial[piece * results + i];
    P::template store<T>(v, P::row(v, i / columns), P::column(v, i % columns), sum);
  }
}

template <class P, class T>
void launch_product(const Conv& v, const LaunchContext& context) {
  const std::int64_t results = P::rows(v) * P::columns(v), depths = P::depths(v);
  const std::int64_t tiles = ((P::rows(v) + kSide - 1) / kSide) * ((P::columns(v) + kSide - 1) / kSide);
  const auto room = static_cast<std::int64_t>(context.scratch_bytes / sizeof(Arithmetic<T>)) / results;
  int pieces = pieces_for(tiles, depths, kStep, room, context);
  const std::int64_t piece = std::max<std::int64_t>(1, (depths + pieces - 1) / pieces);
  pieces = static_cast<int>(std::max<std::int64_t>(1, (depths + piece - 1) / piece));
  auto* partial = pieces == 1 ? nullptr : static_cast<Arithmetic<T>*>(context.scratch);
  const dim3 grid(blocks_for_groups(tiles, context), static_cast<unsigned>(pieces));
  conv_kernel<P, T><<<grid, kThreads, 0, context.stream>>>(v, piece, partial);
  if (pieces > 1)
    conv_rest_kernel<P, T><<<blocks_for(results, context), kThreads, 0, context.stream>>>(v, partial, pieces);
}

Conv conv_of(const KernelCall& call, const Operand& image, const Operand& weight, const Operand& map) {
  Conv v{};
  v.image = view_of(image);
  v.weight = view_of(weight);
  v.map = view_of(map);
  v.n = image.sizes[0], v.c = image.sizes[1], v.h = image.sizes[2], v.w = image.sizes[3];
  v.o = weight.sizes[0], v.kh = weight.sizes[2], v.kw = weight.sizes[3];
  v.map_h = map.sizes[2], v.map_w = map.sizes[3];
  v.stride_h = static_cast<std::int64_t>(call.scalars[0]);
  v.stride_w = static_cast<std::int64_t>(call.scalars[1]);
  v.padding_h = static_cast<std::int64_t>(call.scalars[2]);
  v.padding_w = static_cast<std::int64_t>(call.scalars[3]);
  return v;
}

}  // namespace

void launch_conv2d(const KernelCall& call, const LaunchContext& context) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  if (out.sizes.product() == 0) return;
  dispatch_float(out.dtype, [&]<class T>() {
    if (call.kernel == Kernel::conv2d_input_backward)
      return launch_product<InputBackward, T>(conv_of(call, out, b, a), context);
    if (call.kernel == Kernel::conv2d_weight_backward)
      return launch_product<WeightBackward, T>(conv_of(call, b, out, a), context);
    Conv v = conv_of(call, a, b, out);
    v.bias = view_of(call.operands[3]);
    launch_product<Forward, T>(v, context);
  });
}

}  // namespace labrig::cuda
