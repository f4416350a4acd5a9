// TODO
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation step_violation(const KernelCall&) { return "TODO"; }
void step_cost(const KernelCall&, Counts&) {}

}  // namespace labrig::schema
