// TODO
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation conv2d_violation(const KernelCall&) { return "TODO"; }
void conv2d_cost(const KernelCall&, Counts&) {}

}  // namespace labrig::schema
