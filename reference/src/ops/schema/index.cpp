// Picking elements by tensors of indices, and adding to what they pick. What the indices say is checked when the kernel
// runs: only then are they known.
#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

constexpr int kFirstIndex = 2;

int indices_of(const KernelCall& call) {
  int count = 1;
  while (kFirstIndex + count < call.operand_count && !is_absent(operand(call, kFirstIndex + count))) ++count;
  return count;
}

// The elements that are picked: the output of `index`, the values of `index_add`.
const Operand& picked(const KernelCall& call) { return operand(call, call.kernel == Kernel::index ? 0 : 1); }
const Operand& whole(const KernelCall& call) { return operand(call, call.kernel == Kernel::index ? 1 : 0); }

Violation indices_violation(const KernelCall& call, int indices) {
  const Operand& first = operand(call, kFirstIndex);
  for (int i = kFirstIndex; i < call.operand_count; ++i) {
    const bool used = i < kFirstIndex + indices;
    if (!used && !is_absent(operand(call, i))) return position(i) + " follows an index that is absent";
    if (!used) continue;
    if (operand(call, i).dtype != Dtype::i64) return position(i) + " has a type other than i64";
    if (auto violation = has_shape(call, i, first.sizes)) return violation;
  }
  return std::nullopt;
}

}  // namespace

Violation index_violation(const KernelCall& call) {
  const int indices = indices_of(call);
  if (auto violation = indices_violation(call, indices)) return violation;
  const Dims &all = whole(call).sizes, &some = picked(call).sizes, &at = operand(call, kFirstIndex).sizes;
  bool fits = indices <= all.count() && some.count() == at.count() + all.count() - indices;
  for (int d = 0; fits && d < some.count(); ++d) {
    fits = some[d] == (d < at.count() ? at[d] : all[d - at.count() + indices]);
  }
  if (!fits) {
    return std::to_string(indices) + " indices of shape " + shape(at) + " into " + shape(all) + " do not give " +
           shape(some);
  }
  if (call.kernel == Kernel::index_add) return one_float_type(call, 0, 1);
  if (picked(call).dtype != whole(call).dtype) return "the output has another type than the input";
  return std::nullopt;
}

// Only what is picked moves, not all that it is picked from.
void index_cost(const KernelCall& call, Counts& counts) {
  const Wide moved = elements(picked(call).sizes), indices = elements(operand(call, kFirstIndex).sizes);
  const auto element = static_cast<std::int64_t>(element_bytes(picked(call).dtype));
  const int passes = call.kernel == Kernel::index ? 2 : 3;  // index_add reads and writes what it adds to
  counts.bytes = passes * moved * element + indices * indices_of(call) * 8;
  counts.steps = moved + indices;
  if (call.kernel == Kernel::index_add) counts.flops = moved;
}

}  // namespace labrig::schema
