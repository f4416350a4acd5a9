// The memory of a training run, recorded, against ours: an MLP of `depth` x [Linear, ReLU] of one width and a Linear to
// ten classes, with cross-entropy.
//
//   [{"width": 1024, "depth": 6, "batch": 2048, "optimizer": "adam", "precision": "fp32",
//     "base": 68158464,                                        what was allocated before the model existed
//     "steps": [[after forward, after backward, after step, peak, reserved], …]}, …]   bytes
//
// fp16 and bf16 run under autocast, fp16 with a gradient scaler. Without `base` it is that of our own recording. In
// each step our peak may be as high as the recorded one, and no higher. The figures do not depend on values, so that a
// simulated card computes none.
#pragma once

#include "conform/kinds.hpp"

namespace labrig::conform {

// Throws `bad-file` when the document is not of this form, or has no run that is known here; `usage` for the host,
// whose memory is not counted.
Outcome training_peaks(const JsonFile& file, Device device);

}  // namespace labrig::conform
