// What autocast does to the result of an operator, recorded on a card, against ours:
//
//   [["matmul", "torch.float16", "torch.float32", "torch.float32", "torch.float16"], …]
//     operator, type of the region, type of a, type of b, type of the result or "error: …"
//
// Operators of one operand ignore b. Every row is asked of the policy table; operators that the core has are run as
// well, under an AutocastGuard on the device. Read next: labrig/amp.hpp (Policy).
#pragma once

#include "conform/kinds.hpp"

namespace labrig::conform {

// Throws `bad-file` when the document is not of this form. On `cpu` nothing is run: the host has another list.
Outcome autocast_rows(const JsonFile& file, Device device);

}  // namespace labrig::conform
