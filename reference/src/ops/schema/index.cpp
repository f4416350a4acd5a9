// TODO
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation index_violation(const KernelCall&) { return "TODO"; }
void index_cost(const KernelCall&, Counts&) {}

}  // namespace labrig::schema
