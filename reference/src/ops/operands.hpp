// What the operators have in common: all operands on one device, PyTorch's promotion of types, and a kernel call built
// from tensors. Read next: elementwise.cpp.
#pragma once

#include <initializer_list>
#include <vector>

#include "labrig/ops.hpp"
#include "ops/kernel.hpp"
#include "tensor/impl.hpp"

namespace labrig {

// An operand as error texts list it: its role in the call, and the tensor.
struct NamedOperand {
  const char* role;
  const Tensor* tensor;
};
using NamedOperands = std::vector<NamedOperand>;

// The device of all operands. A 0-dim CPU tensor beside tensors of a card counts as a number and is passed over. Throws
// `device-mismatch`.
Device common_device(const char* op, const NamedOperands& operands);
// The same with the strict rule and the text of PyTorch's matrix product.
Device matmul_device(const Tensor& mat1, const Tensor& mat2);

// True for a tensor that an operation on `device` takes as a number.
bool is_number_for(Device device, const Tensor& tensor);

// The element type of an operation's result. Tensors with dimensions go before 0-dim tensors, and these before numbers:
// the latter only count when they are of a higher kind (bool < integer < floating point).
Dtype result_type(const Tensor& a, const Tensor& b);
Dtype result_type(const Tensor& a, Scalar b);
// Throws `result-type` when a result of type `from` may not be written to a tensor of type `to`: kinds only go up.
void check_can_cast(Dtype from, Dtype to);

// The tensors of a kernel, outputs first, in the order of its schema; an undefined one is an operand that is absent.
// Writes the outputs. Throws `partial-overlap` when an input shares some, but not all, of its memory with an output.
void run(Kernel kernel, std::initializer_list<const Tensor*> tensors,
         std::initializer_list<std::uint64_t> scalars = {});

}  // namespace labrig
