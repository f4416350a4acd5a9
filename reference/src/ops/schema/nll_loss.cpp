// TODO
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation nll_loss_violation(const KernelCall&) { return "TODO"; }
void nll_loss_cost(const KernelCall&, Counts&) {}

}  // namespace labrig::schema
