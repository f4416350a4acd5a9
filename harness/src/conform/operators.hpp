// Recorded calls of operators against ours, forwards and backwards:
//
//   [{"op": "matmul", "attrs": {"lhs_transposed_view": true},
//     "inputs": [{"shape": [3, 4], "data": […]}, …],   f32 values; null: an input that is left out
//     "int": [false, false],                           inputs that hold whole numbers (ids, classes) or masks
//     "output": {"shape": …},
//     "grad_output": {"shape": …},                     null or missing: only the output is compared
//     "grad_inputs": [{"shape": …}, …]}, …]            of every input, null for those without; or only of those that
//                                                      hold no whole numbers
//
// Every value: |ours - recorded| <= 1e-5 max(1, max |recorded|). An operator that is not known here is named and not
// compared; so is an entry that comes out differently because of an attribute that is not known here.
#pragma once

#include "conform/kinds.hpp"

namespace labrig::conform {

// Throws `bad-file` when the document is not of this form, or has no operator that is known here.
Outcome operators(const JsonFile& file, Device device);

}  // namespace labrig::conform
