// Lab 05, device-mismatch: what a submission must offer. You write the three functions below; the handout explains
// them, and `labrig check` says what each is judged by. A machine may have no card at all, one, or several: the device
// that you are asked for is the one to use.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/module.hpp"
#include "labrig/ops.hpp"
#include "labrig/state_dict.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace device_mismatch {

// --- task 1 ----------------------------------------------------------------------------------------------------------

// One step's data.
struct Batch {
  labrig::Tensor features;  // [rows, width] f32
  labrig::Tensor targets;   // [rows] i64: the class of each row
};

// A training run. Its tensors are on the CPU, or already on the device that training is asked for: a loader may have
// put them there. The model, where `center` belongs to the model and is not learnt:
//   h      = relu(hidden(features - center))      hidden: width -> hidden
//   scores = out(h) / temperature                 out: hidden -> classes
// The loss of a step, where later rows are newer and count more:
//   importance[i] = class_weights[targets[i]] * (i + 1) / rows
//   loss          = sum over i of importance[i] * cross_entropy(scores[i], targets[i]), divided by rows
// Each step is one batch: loss, gradients, then plain SGD with rate `lr` on everything that is learnt.
struct Recipe {
  std::int64_t width = 0, hidden = 0, classes = 0;
  std::vector<Batch> batches;
  // The model at the start, as a checkpoint gave it: "hidden.weight" [hidden, width], "hidden.bias", "out.weight",
  // "out.bias", and the buffer "center" [width].
  labrig::NamedTensors state;
  // Before this step (counted from 0) the run goes back to an older checkpoint: a NEW model is built, gets
  // `restart_state`, and is trained from there on. 0: never.
  std::size_t restart_at = 0;
  labrig::NamedTensors restart_state;
  std::vector<double> class_weights;
  labrig::Tensor temperature;  // [] f32, on the CPU: a number in the shape of a tensor
  double lr = 0;
};

struct Trained {
  labrig::Tensor losses;       // [steps] f32, on the CPU: the loss of each step
  labrig::NamedTensors state;  // of the model after the last step, by the same names, on any device
};

// --- task 2 ----------------------------------------------------------------------------------------------------------

// What a model wants of a checkpoint.
struct Wanted {
  std::vector<std::string> names;                   // of its tensors
  std::map<std::string, labrig::Device> elsewhere;  // where those go that do not go to the device that is asked for
};

struct Loaded {
  labrig::NamedTensors tensors;         // what was wanted and is in the file, each on its device
  std::vector<std::string> missing;     // wanted, not in the file
  std::vector<std::string> unexpected;  // in the file, not wanted
};

// --- task 3 ----------------------------------------------------------------------------------------------------------

// A value of a recorded program.
struct Value {
  std::string name;                 // "hidden.weight", "batch", "x", …
  std::string made_by;              // "parameter", "buffer", "load", "arange", "to", "linear", …
  std::vector<std::string> inputs;  // the values that it was made from, in the order of the call
  labrig::Device device;
  std::vector<std::int64_t> sizes;  // none: a single number
  std::string line;                 // of the program, where it was made: "12: x = sub(batch, center)"
};

// A program up to its first device mismatch.
struct Program {
  std::vector<Value> values;          // in the order in which they were made
  std::string operation;              // that failed
  std::vector<std::string> operands;  // its operands, in the order of the call
  std::string error;                  // the core's own words: what, why, fix
};

// Whether an operation takes a number on the CPU (a value without sizes) beside tensors on a card: the elementwise ones
// do, as in PyTorch. The others (linear, matmul, cross_entropy, index_select, …) do not.
inline bool takes_numbers(std::string_view operation) {
  for (const std::string_view elementwise : {"add", "sub", "mul", "div", "where", "exp", "sqrt", "relu", "tanh"})
    if (operation == elementwise) return true;
  return false;
}

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "device-mismatch";

  // Trains as the recipe says, with everything on `device`: the host, sim:0, sim:1, … Within a step nothing comes back
  // to the host, and no other card than `device` is touched.
  virtual Trained train(const Recipe& recipe, labrig::Device device) = 0;

  // Reads the safetensors file `path`, whose tensors may have been saved on devices that this machine does not have.
  // Every tensor goes to `device`, but for those that `wanted` sends elsewhere.
  virtual Loaded load(const std::string& path, labrig::Device device, const Wanted& wanted) = 0;

  // The names of the values to blame for the program's error. The device of a program is that of its first parameter
  // (the first value made by "parameter"). A culprit is the earliest value in the data flow that is off this device, on
  // the way to an operand of the failed operation: there it was made, or should have been moved. A number on the CPU is
  // innocent as an operand of an operation that takes numbers. A failed operation may have more than one culprit.
  virtual std::vector<std::string> culprit(const Program& program) = 0;
};

}  // namespace device_mismatch
