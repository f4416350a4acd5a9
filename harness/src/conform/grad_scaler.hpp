// Recorded runs of PyTorch's GradScaler against ours, bit for bit:
//
//   [{"init": 65536, "growth": 2, "backoff": 0.5, "interval": 5, "lr": 0.1 (where it is not),
//     "rows": [{"bad": null | "inf" | "nan", "explicit_unscale": false,                    what is done
//               "skipped": false, "scale_after": 65536, "growth_tracker": 1, "param": […]}, …]}, …]   what comes out
//
// The program: one parameter of ones, as long as `param`; loss = its sum, so that every gradient is the scale; `bad`
// goes into the first element of the gradient; unscale_ if explicit; SGD; step; update. What a row does not say is not
// compared.
#pragma once

#include "conform/kinds.hpp"

namespace labrig::conform {

// One entry a scaler. Throws `bad-file` when the document is not of this form.
Outcome grad_scaler(const JsonFile& file, Device device);

}  // namespace labrig::conform
