// A kernel call: the one form in which operators reach every backend. The operator (reference/src/ops/<op>.cpp) checks
// shapes and types and allocates the result; the backend carries the call out (a table of functions on `cpu` and
// `cuda`, a launch command on `sim`). Operands are strided; operand 0 is the output (Access::write), the others are
// read.
//
// The schema of a kernel (operands, allowed types and shapes, cost) stands in one place, schema.cpp, and is used three
// times: by the operators, by the simulated card to validate and price a command of an untrusted client, by reports.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "labrig/dtype.hpp"
#include "labrig/export.hpp"
#include "labrig/layout.hpp"

namespace labrig {

enum class Kernel : std::uint16_t {
  fill,  // out <- scalar
  copy,  // out <- a: strided, broadcast, converted; scalar[0] != 0: a hidden copy (Cause::hidden)
  add,
  sub,
  mul,
  div,  // out <- a op b, broadcast; operand types may differ, the output's is the promoted one
  add_scalar,
  sub_scalar,
  mul_scalar,
  div_scalar,  // out <- a op scalar
  relu,
  neg,
  masked_fill,  // out <- mask ? scalar : a; operands: out, a, mask
  matmul,       // out [m,n] <- a [m,k] b [k,n]; any strides
  sum,
  mean,
  max,     // out <- reduction of a over dimension scalar[0] (an integer); out has that dimension, of size 1
  arange,  // out <- 0, 1, …
};
inline constexpr int kKernelCount = static_cast<int>(Kernel::arange) + 1;

enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };

inline constexpr int kMaxOperands = 7;

struct Operand {
  void* data = nullptr;  // the first element
  Dtype dtype = Dtype::f32;
  Access access = Access::read;
  Dims sizes;
  Dims strides;  // in elements
  std::string_view name;
};

// 64-bit scalars travel as bit patterns.
inline std::uint64_t scalar_bits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline double scalar_value(std::uint64_t bits) { return std::bit_cast<double>(bits); }

struct KernelCall {
  Kernel kernel{};
  std::array<Operand, kMaxOperands> operands;
  int operand_count = 0;
  std::array<std::uint64_t, 3> scalars{};

  std::span<const Operand> all() const { return {operands.data(), static_cast<std::size_t>(operand_count)}; }
  void push(const Operand& operand) { operands[static_cast<std::size_t>(operand_count++)] = operand; }
};

// What a kernel does, counted: floating point operations and bytes of device memory read plus written.
struct KernelCost {
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;
  std::uint64_t steps = 0;  // elements visited, for the work budget of the simulated card
  Dtype rate = Dtype::f32;  // whose arithmetic rate applies
  bool matrix = false;      // runs at the matrix rate of its dtype
};

LABRIG_API std::string_view name_of(Kernel kernel);
LABRIG_API std::optional<Kernel> kernel_from_index(std::uint16_t index);
// Nothing when the call fits the kernel's schema, else a sentence that says what does not. Never throws; the sizes and
// strides may be hostile (negative, overflowing): no arithmetic here may trap.
LABRIG_API std::optional<std::string> schema_violation(const KernelCall& call);
// Only for calls without a violation. 64-bit saturating.
LABRIG_API KernelCost cost_of(const KernelCall& call);

}  // namespace labrig
