// Kernel calls as short as a test of their schema wants them.
#pragma once

#include "ops/kernel.hpp"
#include "test_card.hpp"

namespace labrig::sim {

inline Operand out(const Dims& sizes, Dtype dtype = kF32) { return operand_at(0, dtype, sizes, Access::write); }
inline Operand in(const Dims& sizes, Dtype dtype = kF32) { return operand_at(0, dtype, sizes, Access::read); }

inline bool fits(Kernel kernel, std::initializer_list<Operand> operands, std::uint64_t scalar = 0) {
  KernelCall call = call_of(kernel, operands);
  call.scalars[0] = scalar;
  return !schema_violation(call);
}

}  // namespace labrig::sim
