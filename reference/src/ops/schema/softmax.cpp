// TODO
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation softmax_violation(const KernelCall&) { return "TODO"; }
void softmax_cost(const KernelCall&, Counts&) {}

}  // namespace labrig::schema
