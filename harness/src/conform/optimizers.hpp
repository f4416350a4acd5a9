// Recorded steps of optimizers against ours, in f64 as they were recorded:
//
//   {"adamw": {"grads":  [[…] of step 1, …],
//              "params": [[…] at the start, […] after step 1, …],
//              "config": {"optimizer": "AdamW", "lr": 0.01, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.1}}}
//
// Without `config` (or a part of it) the settings are those of the six names of our own recording: sgd, sgd_momentum,
// sgd_nesterov, adam, adam_wd, adamw. Every parameter after every step: |ours - recorded| <= 1e-6 max(1, max
// |recorded|).
#pragma once

#include "conform/kinds.hpp"

namespace labrig::conform {

// Throws `bad-file` when the document is not of this form, or has no optimizer that is known here.
Outcome optimizers(const JsonFile& file, Device device);

}  // namespace labrig::conform
