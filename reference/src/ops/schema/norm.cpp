// TODO
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation norm_violation(const KernelCall&) { return "TODO"; }
void norm_cost(const KernelCall&, Counts&) {}

}  // namespace labrig::schema
