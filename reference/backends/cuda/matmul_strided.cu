// Matrix products of operands that cuBLAS cannot read as they lie: any strides, no copy, no memory. Each block computes
// one 16 x 16 tile of the output after the other: it brings a tile of a and a tile of b into shared memory, where each
// element is used 16 times, and goes on along k. Far from cuBLAS's speed, and a first lesson in tiling.
#include "elements.cuh"
#include "product.hpp"

namespace labrig::cuda {
namespace {

constexpr int kTile = 16;

// One of a batch of matrices; strides: batch, row, column.
struct Matrix {
  View view;
  std::int64_t rows, columns;
};

// Zero outside the matrix, so that tiles at the edge need no special case.
template <class V>
__device__ V element_or_zero(const Matrix& matrix, std::int64_t batch, std::int64_t row, std::int64_t column) {
  if (row >= matrix.rows || column >= matrix.columns) return V{0};
  const std::int64_t* strides = matrix.view.strides;
  return load_as<V>(matrix.view, batch * strides[0] + row * strides[1] + column * strides[2]);
}

// bias: no data where there is none.
template <class V>
__global__ void matmul_strided_kernel(const __grid_constant__ Matrix out, const __grid_constant__ Matrix a,
                                      const __grid_constant__ Matrix b, const __grid_constant__ View bias,
                                      std::int64_t batches) {
  __shared__ V a_tile[kTile][kTile + 1], b_tile[kTile][kTile + 1];  // + 1: columns fall into different banks
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t across = (out.columns + kTile - 1) / kTile, tiles = across * ((out.rows + kTile - 1) / kTile);
  for (std::int64_t i = blockIdx.x; i < tiles * batches; i += gridDim.x) {
    const std::int64_t batch = i / tiles, tile = i - batch * tiles;
    const std::int64_t row = tile / across * kTile + y, column = tile % across * kTile + x;
    V sum = 0;
    for (std::int64_t start = 0; start < a.columns; start += kTile) {
      a_tile[y][x] = element_or_zero<V>(a, batch, row, start + x);
      b_tile[y][x] = element_or_zero<V>(b, batch, start + y, column);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kTile; ++k) sum += a_tile[y][k] * b_tile[k][x];
      __syncthreads();  // before the next tiles overwrite these
    }
    if (row >= out.rows || column >= out.columns) continue;
    if (bias.data != nullptr) sum += load_as<V>(bias, column * bias.strides[0]);
    const std::int64_t* strides = out.view.strides;
    store_as(out.view, batch * strides[0] + row * strides[1] + column * strides[2], sum);
  }
}

Matrix matrix_of(const Operand& operand) { return {view_of(operand), operand.sizes[1], operand.sizes[2]}; }

}  // namespace

void launch_matmul_strided(const Product& p, const LaunchContext& context) {
  const Matrix out = matrix_of(p.out), a = matrix_of(p.a), b = matrix_of(p.b);
  const View bias = p.bias == nullptr ? View{} : view_of(*p.bias);
  const std::int64_t tiles = ((out.rows + kTile - 1) / kTile) * ((out.columns + kTile - 1) / kTile) * p.batch();
  const auto blocks = static_cast<unsigned>(std::min(tiles, context.multiprocessors * std::int64_t{32}));
  const dim3 threads(kTile, kTile);
  if (p.out.dtype == Dtype::f64)
    matmul_strided_kernel<double><<<blocks, threads, 0, context.stream>>>(out, a, b, bias, p.batch());
  else
    matmul_strided_kernel<float><<<blocks, threads, 0, context.stream>>>(out, a, b, bias, p.batch());
}

}  // namespace labrig::cuda
