// The matrix product for operands that cuBLAS cannot read as they lie: any strides, no copy, no memory. Each block
// computes one 16 x 16 tile of the output after the other: it brings a tile of a and a tile of b into shared memory,
// where each element is used 16 times, and goes on along k. Far from cuBLAS's speed, and a first lesson in tiling.
#include "elements.cuh"

namespace labrig::cuda {
namespace {

constexpr int kTile = 16;

struct Matrix {
  View view;
  std::int64_t rows, columns;
};

// Zero outside the matrix, so that tiles at the edge need no special case.
template <class V>
__device__ V element_or_zero(const Matrix& matrix, std::int64_t row, std::int64_t column) {
  if (row >= matrix.rows || column >= matrix.columns) return V{0};
  return load_as<V>(matrix.view, row * matrix.view.strides[0] + column * matrix.view.strides[1]);
}

template <class V>
__global__ void matmul_strided_kernel(const __grid_constant__ Matrix out, const __grid_constant__ Matrix a,
                                      const __grid_constant__ Matrix b) {
  __shared__ V a_tile[kTile][kTile + 1], b_tile[kTile][kTile + 1];  // + 1: columns fall into different banks
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t tiles_across = (out.columns + kTile - 1) / kTile;
  const std::int64_t tiles = tiles_across * ((out.rows + kTile - 1) / kTile);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t row = tile / tiles_across * kTile + y, column = tile % tiles_across * kTile + x;
    V sum = 0;
    for (std::int64_t start = 0; start < a.columns; start += kTile) {
      a_tile[y][x] = element_or_zero<V>(a, row, start + x);
      b_tile[y][x] = element_or_zero<V>(b, start + y, column);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
      __syncthreads();  // before the next tiles overwrite these
    }
    if (row < out.rows && column < out.columns)
      store_as(out.view, row * out.view.strides[0] + column * out.view.strides[1], sum);
  }
}

Matrix matrix_of(const Operand& operand) {
  Matrix matrix{{}, operand.sizes[0], operand.sizes[1]};
  matrix.view.data = operand.data;
  matrix.view.dtype = operand.dtype;
  matrix.view.strides[0] = operand.strides[0];
  matrix.view.strides[1] = operand.strides[1];
  return matrix;
}

}  // namespace

void launch_matmul_strided(const KernelCall& call, const LaunchContext& context) {
  const Matrix out = matrix_of(call.operands[0]), a = matrix_of(call.operands[1]), b = matrix_of(call.operands[2]);
  const std::int64_t tiles = ((out.rows + kTile - 1) / kTile) * ((out.columns + kTile - 1) / kTile);
  const auto blocks = static_cast<unsigned>(std::min(tiles, context.multiprocessors * std::int64_t{32}));
  const dim3 threads(kTile, kTile);
  if (call.operands[0].dtype == Dtype::f64)
    matmul_strided_kernel<double><<<blocks, threads, 0, context.stream>>>(out, a, b);
  else
    matmul_strided_kernel<float><<<blocks, threads, 0, context.stream>>>(out, a, b);
  check_launch("matmul");
}

}  // namespace labrig::cuda
