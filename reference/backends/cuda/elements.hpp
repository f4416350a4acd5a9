// The operands of an elementwise kernel, lined up: one shape, and for each operand the strides with which it is walked
// through that shape. Passed to kernels by value, so that a launch needs no memory and no copy of its own.
//
//   sizes [2, 3] strides [3, 1], [0, 1]      two dimensions stay: the second operand is broadcast
//   sizes [2, 3] strides [3, 1], [3, 1]      one dimension is left, [6] with strides [1], [1]: the fast path
//
// Read next: elements.cuh (the walk on the card).
#pragma once

#include <cstdint>
#include <initializer_list>

#include "ops/kernel.hpp"

namespace labrig::cuda {

struct View {
  void* data = nullptr;
  std::int64_t strides[kMaxDims] = {};  // in elements; 0 where the operand is broadcast
  Dtype dtype = Dtype::f32;
};

// One operand as it lies; no data when it is absent.
View view_of(const Operand& operand);

inline constexpr int kMaxViews = 4;

struct Elements {
  std::int64_t count = 0;  // of elements
  int dims = 0;            // merged where all operands allow it; 0 for a single element
  int views = 0;
  std::int64_t sizes[kMaxDims] = {};
  View view[kMaxViews];
};

// These operands over the shape of the first, at most kMaxViews. `skip_dim` leaves out one dimension (along which a
// kernel works by itself); -1 leaves out none.
Elements elements_of(std::initializer_list<const Operand*> operands, int skip_dim = -1);
// All operands of the call.
Elements elements_of(const KernelCall& call);
// One operand over its own shape, its dimensions in the order in which they lie in memory, so that as many as possible
// merge; for kernels to which the order of elements means nothing.
Elements elements_in_memory_order(const Operand& operand);

// True when every operand has the same type, no gaps, and starts at a multiple of 16 bytes: elements may then be moved
// in packs of 16 bytes.
bool is_plain(const Elements& elements);

}  // namespace labrig::cuda
