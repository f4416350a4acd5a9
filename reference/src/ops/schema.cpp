// The schema of every kernel: how many operands, which types and shapes, and what it costs. It is read by the
// operators, which ask for a cost, and by the simulated card, which believes nothing a client says: every number that
// arrives here may be hostile, so counts are formed in 128 bits and compared before they are used.
//
// Rules that hold for all kernels: operand 0 is the output and is written; all others are read; inputs broadcast to the
// shape of the output; the arithmetic is done in the type of the output, to which the inputs must convert without
// losing their kind (float to int and int to bool lose it). In place means: an input has the address and the layout of
// the output.
#include <array>
#include <limits>
#include <tuple>

#include "ops/kernel.hpp"

namespace labrig {
namespace {

__extension__ using Wide = __int128;

enum class Family : std::uint8_t { fill, copy, binary, with_scalar, unary, masked_fill, matmul, reduce, arange };

struct Schema {
  std::string_view name;
  Family family;
  int operands;
};

constexpr Schema kSchemas[kKernelCount] = {
    {"fill", Family::fill, 1},
    {"copy", Family::copy, 2},
    {"add", Family::binary, 3},
    {"sub", Family::binary, 3},
    {"mul", Family::binary, 3},
    {"div", Family::binary, 3},
    {"add_scalar", Family::with_scalar, 2},
    {"sub_scalar", Family::with_scalar, 2},
    {"mul_scalar", Family::with_scalar, 2},
    {"div_scalar", Family::with_scalar, 2},
    {"relu", Family::unary, 2},
    {"neg", Family::unary, 2},
    {"masked_fill", Family::masked_fill, 3},
    {"matmul", Family::matmul, 3},
    {"sum", Family::reduce, 2},
    {"mean", Family::reduce, 2},
    {"max", Family::reduce, 2},
    {"arange", Family::arange, 1},
};

const Schema& schema_of(Kernel kernel) { return kSchemas[static_cast<std::size_t>(kernel)]; }

// The most elements that one operand may have (S10); also keeps every product below inside 128 bits.
constexpr Wide kMaxElements = Wide{1} << 34;

// The number of elements, or -1 when a size is negative or the product is above the limit.
Wide elements(const Dims& sizes) {
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return -1;
    empty |= size == 0;
  }
  if (empty) return 0;
  Wide count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
    if (count > kMaxElements) return -1;
  }
  return count;
}

// Elements that lie at different addresses: a dimension with stride 0 counts once.
std::uint64_t distinct_elements(const Operand& operand) {
  if (elements(operand.sizes) == 0) return 0;
  std::uint64_t count = 1;
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.strides[d] != 0) count *= static_cast<std::uint64_t>(operand.sizes[d]);
  }
  return count;
}

// True when no two elements share an address, for layouts that arise from views: sorted by stride, each dimension steps
// over everything that the smaller ones span.
bool elements_are_apart(const Operand& operand) {
  std::array<int, kMaxDims> order{};  // dimensions of more than one element, by ascending stride
  std::size_t count = 0;
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.sizes[d] == 0) return true;
    if (operand.sizes[d] == 1) continue;
    std::size_t at = count++;
    for (; at > 0 && operand.strides[order[at - 1]] > operand.strides[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  Wide span = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const int d = order[i];
    if (operand.strides[d] < span) return false;
    span += Wide{operand.strides[d]} * (operand.sizes[d] - 1);
  }
  return true;
}

bool broadcasts_to(const Dims& from, const Dims& to) {
  if (from.count() > to.count()) return false;
  const int shift = to.count() - from.count();
  for (int d = 0; d < from.count(); ++d) {
    if (from[d] != 1 && from[d] != to[d + shift]) return false;
  }
  return true;
}

// bool < integers < floats: a value may move up, never down.
int kind_of(Dtype dtype) { return dtype == Dtype::boolean ? 0 : is_floating_point(dtype) ? 2 : 1; }

std::string position(int i) { return "operand " + std::to_string(i); }

std::string shape(const Dims& dims) {
  std::string text = "[";
  for (int d = 0; d < dims.count(); ++d) text += (d ? ", " : "") + std::to_string(dims[d]);
  return text + "]";
}

using Violation = std::optional<std::string>;

// What holds for each operand by itself.
Violation operand_violation(const Operand& operand, int i) {
  if (static_cast<int>(operand.dtype) >= kDtypeCount) return position(i) + " has an unknown element type";
  const Access expected = i == 0 ? Access::write : Access::read;
  if (operand.access != expected) return position(i) + (i == 0 ? " must be written" : " must be read");
  if (operand.sizes.count() != operand.strides.count()) return position(i) + " has not one stride for each size";
  if (elements(operand.sizes) < 0) return position(i) + " has a size below 0, or more than 2^34 elements";
  for (const std::int64_t stride : operand.strides) {
    if (stride < 0) return position(i) + " has a stride below 0";
  }
  return std::nullopt;
}

Violation inputs_broadcast(const KernelCall& call) {
  for (int i = 1; i < call.operand_count; ++i) {
    const Operand& input = call.operands[static_cast<std::size_t>(i)];
    if (!broadcasts_to(input.sizes, call.operands[0].sizes)) {
      return position(i) + " of shape " + shape(input.sizes) + " does not broadcast to the output's " +
             shape(call.operands[0].sizes);
    }
  }
  return std::nullopt;
}

Violation keeps_kind(const Operand& input, int i, const Operand& out) {
  if (kind_of(input.dtype) <= kind_of(out.dtype)) return std::nullopt;
  return position(i) + " of type " + name_of(input.dtype) + " does not fit into an output of type " +
         name_of(out.dtype);
}

Violation elementwise_violation(const KernelCall& call) {
  const Operand& out = call.operands[0];
  if (auto violation = inputs_broadcast(call)) return violation;
  if (schema_of(call.kernel).family == Family::copy) return std::nullopt;  // converts anything to anything
  const bool masked = call.kernel == Kernel::masked_fill;
  for (int i = 1; i < call.operand_count - (masked ? 1 : 0); ++i) {
    if (auto violation = keeps_kind(call.operands[static_cast<std::size_t>(i)], i, out)) return violation;
  }
  if (masked && call.operands[2].dtype != Dtype::boolean) return "the mask must be of type bool";
  const bool divides = call.kernel == Kernel::div || call.kernel == Kernel::div_scalar;
  if (divides && !is_floating_point(out.dtype)) return "a division needs an output of a floating point type";
  const bool no_bool = call.kernel == Kernel::sub || call.kernel == Kernel::sub_scalar || call.kernel == Kernel::neg ||
                       call.kernel == Kernel::relu;
  if (no_bool && out.dtype == Dtype::boolean) return std::string(name_of(call.kernel)) + " is not defined for bool";
  return std::nullopt;
}

Violation matmul_violation(const KernelCall& call) {
  const auto& [out, a, b] = std::tie(call.operands[0], call.operands[1], call.operands[2]);
  if (out.sizes.count() != 2 || a.sizes.count() != 2 || b.sizes.count() != 2) return "all operands need two dimensions";
  if (a.sizes[1] != b.sizes[0] || out.sizes[0] != a.sizes[0] || out.sizes[1] != b.sizes[1]) {
    return "shapes " + shape(a.sizes) + " x " + shape(b.sizes) + " -> " + shape(out.sizes) + " do not fit together";
  }
  if (!is_floating_point(out.dtype) || a.dtype != out.dtype || b.dtype != out.dtype) {
    return "all operands need one and the same floating point type";
  }
  return std::nullopt;
}

Violation reduce_violation(const KernelCall& call) {
  const Operand& out = call.operands[0];
  const Operand& a = call.operands[1];
  const std::uint64_t dim = call.scalars[0];
  if (dim >= static_cast<std::uint64_t>(a.sizes.count())) return "there is no dimension " + std::to_string(dim);
  const int reduced = static_cast<int>(dim);
  bool fits = out.sizes.count() == a.sizes.count();
  for (int d = 0; fits && d < a.sizes.count(); ++d) fits = out.sizes[d] == (d == reduced ? 1 : a.sizes[d]);
  if (!fits)
    return "the output's shape " + shape(out.sizes) + " is not " + shape(a.sizes) + " with the dimension reduced to 1";
  if (call.kernel == Kernel::sum) return keeps_kind(a, 1, out);
  if (call.kernel == Kernel::mean) {
    if (!is_floating_point(a.dtype) || !is_floating_point(out.dtype)) return "a mean needs floating point types";
    return std::nullopt;
  }
  if (a.dtype != out.dtype) return "the output of a maximum has the type of its input";
  if (a.sizes[reduced] == 0 && elements(out.sizes) != 0) return "there is no maximum of no elements";
  return std::nullopt;
}

std::uint64_t saturated(Wide value) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return value > Wide{most} ? most : static_cast<std::uint64_t>(value);
}

}  // namespace

std::string_view name_of(Kernel kernel) { return schema_of(kernel).name; }

std::optional<Kernel> kernel_from_index(std::uint16_t index) {
  if (index >= kKernelCount) return std::nullopt;
  return static_cast<Kernel>(index);
}

std::optional<std::string> schema_violation(const KernelCall& call) {
  if (static_cast<int>(call.kernel) >= kKernelCount) return "there is no such kernel";
  const Schema& schema = schema_of(call.kernel);
  if (call.operand_count != schema.operands) {
    return "it takes " + std::to_string(schema.operands) + " operands, not " + std::to_string(call.operand_count);
  }
  for (int i = 0; i < call.operand_count; ++i) {
    if (auto violation = operand_violation(call.operands[static_cast<std::size_t>(i)], i)) return violation;
  }
  if (!elements_are_apart(call.operands[0])) return "elements of the output share memory";
  switch (schema.family) {
    case Family::fill:
      return std::nullopt;
    case Family::copy:
    case Family::binary:
    case Family::with_scalar:
    case Family::unary:
    case Family::masked_fill:
      return elementwise_violation(call);
    case Family::matmul:
      return matmul_violation(call);
    case Family::reduce:
      return reduce_violation(call);
    case Family::arange:
      if (call.operands[0].sizes.count() != 1) return "the output needs one dimension";
      if (call.operands[0].dtype == Dtype::boolean) return "arange is not defined for bool";
      return std::nullopt;
  }
  return "there is no such kernel";
}

KernelCost cost_of(const KernelCall& call) {
  const Operand& out = call.operands[0];
  const Family family = schema_of(call.kernel).family;
  KernelCost cost;
  cost.rate = out.dtype;
  Wide bytes = 0;
  for (const Operand& operand : call.all()) {
    bytes += Wide{distinct_elements(operand)} * static_cast<std::int64_t>(element_bytes(operand.dtype));
  }
  cost.bytes = saturated(bytes);

  Wide steps = elements(out.sizes);
  Wide flops = steps;
  if (family == Family::matmul) {
    steps *= call.operands[1].sizes[1];
    flops = 2 * steps;
    cost.matrix = true;
  } else if (family == Family::reduce) {
    steps = flops = elements(call.operands[1].sizes);
    cost.rate = call.operands[1].dtype;
  } else if (family == Family::fill || family == Family::copy || family == Family::arange) {
    flops = 0;
  }
  cost.steps = saturated(steps);
  cost.flops = saturated(flops);
  return cost;
}

}  // namespace labrig
