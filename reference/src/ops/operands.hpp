// What the operators have in common: all operands on one device, PyTorch's promotion of types, and a kernel call built
// from tensors. Read next: binary.cpp.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "labrig/ops.hpp"
#include "ops/kernel.hpp"
#include "tensor/impl.hpp"

namespace labrig {

// An operand as error texts list it: its role in the call (for the strict check PyTorch's name of the argument), and
// the tensor. One that may be absent is passed over when it is undefined.
struct NamedOperand {
  const char* role;
  const Tensor* tensor;
  bool may_be_absent = false;
};
using NamedOperands = std::vector<NamedOperand>;

// The device of all operands (same_device.cpp). Both throw `undefined-tensor`, naming the role, and `device-mismatch`,
// listing every operand and where it came from.
//
// For operators that PyTorch builds from an iterator (elementwise, cat): a 0-dim CPU tensor beside tensors of a card
// counts as a number and is passed over.
Device common_device(const char* op, std::span<const NamedOperand> operands);
// For operators behind PyTorch's generated wrappers (products, losses over classes, index_select): no exception; the
// first operand sets the device, and the first that differs is blamed. `method` is what PyTorch calls the wrapper:
//
//   strict_device("linear", "wrapper_CUDA_addmm", {{"self", &bias, true}, {"mat1", &x}, {"mat2", &weight}});
Device strict_device(const char* op, const char* method, std::span<const NamedOperand> operands);
inline Device common_device(const char* op, std::initializer_list<NamedOperand> operands) {
  return common_device(op, std::span<const NamedOperand>(operands.begin(), operands.size()));
}
inline Device strict_device(const char* op, const char* method, std::initializer_list<NamedOperand> operands) {
  return strict_device(op, method, std::span<const NamedOperand>(operands.begin(), operands.size()));
}
// Throws `undefined-tensor` when an operand is missing that may not be.
void require(const char* op, const NamedOperand& operand);
// "mat2 'weights' is f32[3, 4] on cpu, a view (transpose) of 'w'"
std::string described(const NamedOperand& operand);

// True for a tensor that an operation on `device` takes as a number.
bool is_number_for(Device device, const Tensor& tensor);

// The element type of an operation's result. Tensors with dimensions go before 0-dim tensors, and these before numbers:
// the latter only count when they are of a higher kind (bool < integer < floating point).
Dtype result_type(const Tensor& a, const Tensor& b);
Dtype result_type(const Tensor& a, Scalar b);
// Throws `result-type` when a result of type `from` may not be written to a tensor of type `to`: kinds only go up.
void check_can_cast(Dtype from, Dtype to);

// Throws `partial-overlap` when an input shares some, but not all, of its memory with an output.
void check_overlap(const Tensor& out, const Tensor& input);

// The tensors of a kernel, outputs first, in the order of its schema; an undefined one is an operand that is absent.
// Writes the outputs. Throws `partial-overlap`.
void run(Kernel kernel, std::initializer_list<const Tensor*> tensors,
         std::initializer_list<std::uint64_t> scalars = {});

}  // namespace labrig
