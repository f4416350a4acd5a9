// What the families of kernels share to state their schema: operands, allowed types and shapes, and cost, in one place
// for each kernel. It is read by the operators, which ask for a cost, and by the simulated card, which believes nothing
// a client says: every number that arrives here may be hostile, so counts are formed in 128 bits and compared before
// they are used, and nothing may trap.
//
// schema.cpp has checked, before a family is asked: the number of operands, each one's access, types that exist, as
// many strides as sizes, no negative size or stride, at most 2^34 elements an operand, and outputs whose elements lie
// apart.
//
//   elementwise.cpp  random.cpp  matmul.cpp  conv2d.cpp  reduce.cpp  softmax.cpp  norm.cpp  nll_loss.cpp  index.cpp
//   step.cpp
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ops/kernel.hpp"

namespace labrig::schema {

__extension__ using Wide = __int128;
using Violation = std::optional<std::string>;

// The cost while it is added up; `bytes` is filled in by schema.cpp (every distinct element of every operand once; an
// operand that is read and written counts twice) and may be changed.
struct Counts {
  Wide flops = 0;
  Wide bytes = 0;
  Wide steps = 0;
  Dtype rate = Dtype::f32;
  bool matrix = false;
};

struct Schema {
  std::string_view name;
  // One letter for each operand: w written, x read and written, r read; W, X, R: may be absent.
  std::string_view operands;
  Violation (*violation)(const KernelCall& call);
  void (*cost)(const KernelCall& call, Counts& counts);
};
const Schema& schema_of(Kernel kernel);
Access access_of(char letter);

// The number of elements, or -1 when a size is negative or the product is above 2^34.
Wide elements(const Dims& sizes);
bool broadcasts_to(const Dims& from, const Dims& to);
// bool < integers < floats: a value may move up, never down.
int kind_of(Dtype dtype);
std::string position(int i);          // "operand 2"
std::string shape(const Dims& dims);  // "[2, 3]"
inline const Operand& operand(const KernelCall& call, int i) { return call.operands[static_cast<std::size_t>(i)]; }

// Each gives nothing, or the sentence that says what does not fit.
Violation inputs_broadcast(const KernelCall& call);  // every input to the shape of operand 0
Violation keeps_kind(const Operand& input, int i, const Operand& out);
// Operand i has these sizes, or is absent where the table lets it be.
Violation has_shape(const KernelCall& call, int i, const Dims& sizes);
// Operands first … last, those that are not absent, have one and the same floating point type.
Violation one_float_type(const KernelCall& call, int first, int last);

// One function for the rules and one for the cost of each family.
#define LABRIG_SCHEMA_FAMILY(name)                    \
  Violation name##_violation(const KernelCall& call); \
  void name##_cost(const KernelCall& call, Counts& counts)
LABRIG_SCHEMA_FAMILY(elementwise);  // everything up to bce_with_logits_backward but the random numbers and arange
LABRIG_SCHEMA_FAMILY(random);       // uniform, normal, random_integers
LABRIG_SCHEMA_FAMILY(arange);
LABRIG_SCHEMA_FAMILY(matmul);  // matmul, bmm, linear
LABRIG_SCHEMA_FAMILY(conv2d);
LABRIG_SCHEMA_FAMILY(reduce);
LABRIG_SCHEMA_FAMILY(softmax);
LABRIG_SCHEMA_FAMILY(norm);
LABRIG_SCHEMA_FAMILY(nll_loss);
LABRIG_SCHEMA_FAMILY(index);
LABRIG_SCHEMA_FAMILY(step);
#undef LABRIG_SCHEMA_FAMILY

}  // namespace labrig::schema
