// Tensors, views and types, on whatever device LABRIG_DEVICE names (default: a CUDA card if there is one, else the
// host):
//
//   build/bin/example-first-tensor
//   LABRIG_DEVICE=sim build/bin/example-first-tensor
#include <iostream>

#include "labrig/error.hpp"
#include "labrig/ops.hpp"

int main() {
  using namespace labrig;
  const Device device = pick_device();
  std::cout << "this program works on " << describe(device) << "\n\n";

  // A tensor is a handle: `row` and `flipped` look at the memory of `x`, and nothing is copied.
  const Tensor x = arange(6, {kF32, device}).view({2, 3});
  const Tensor row = x[1], flipped = x.t();
  row.fill_(10);
  std::cout << "x:       " << x.str() << "\n"
            << "flipped: " << flipped.str() << "\n\n";

  // Shapes are lined up from the right: [2, 3] and [3] give [2, 3].
  const Tensor bias = tensor<float>({1, 2, 3}).to(device);
  std::cout << "x + bias:    " << (x + bias).str() << "\n"
            << "x times x^T: " << matmul(x, flipped).str() << "\n\n";

  // An error says what, why, and how to fix it.
  try {
    add(x, tensor<float>({1, 2}).to(device));
  } catch (const Error& error) {
    std::cout << error.message() << "\n";
  }
}
