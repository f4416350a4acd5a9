// For the judge alone: programs that really run, on cards that only count the cost, until an operator refuses. What is
// written down is what happened: devices and sizes are the tensors' own, the error is the core's.
#pragma once

#include <functional>

#include "interface.hpp"
#include "labrig/error.hpp"

namespace device_mismatch {

class Recorder {
 public:
  // A value that starts something: made by "parameter", "buffer", "load", "arange", "ones", "tensor".
  void make(const std::string& name, const std::string& by, const labrig::Dims& sizes, labrig::Options options = {}) {
    const labrig::Tensor made = by == "arange" ? labrig::arange(sizes[0], options) : labrig::ones(sizes, options);
    note(name, by, {}, made, by + "(" + sizes.str() + ", " + made.device().str() + ")");
  }
  void to(const std::string& name, const std::string& from, labrig::Device device) {
    note(name, "to", {from}, tensors_.at(from).to(device), from + ".to(" + device.str() + ")");
  }
  // Runs an operation; with one that fails the program is over.
  void run(const std::string& name, const std::string& operation, const std::vector<std::string>& inputs) {
    std::vector<labrig::Tensor> operands;
    std::string arguments;
    for (const std::string& input : inputs) {
      operands.push_back(tensors_.at(input));
      arguments += (arguments.empty() ? "" : ", ") + input;
    }
    try {
      note(name, operation, inputs, operations().at(operation)(operands), operation + "(" + arguments + ")");
    } catch (const labrig::Error& error) {
      if (error.code() != "device-mismatch") throw;
      program_.operation = operation;
      program_.operands = inputs;
      program_.error = error.message();
    }
  }

  // The program. Throws when nothing has failed in it: then it was put together wrongly.
  const Program& failed() const {
    if (program_.operation.empty())
      throw labrig::Error("program-without-error", "a recorded program came to its end",
                          "all of its operands are on one device", "look at the family that made it");
    return program_;
  }

 private:
  using Operation = std::function<labrig::Tensor(const std::vector<labrig::Tensor>&)>;

  static const std::map<std::string, Operation>& operations() {
    using T = std::vector<labrig::Tensor>;
    static const std::map<std::string, Operation> all = {
        {"linear", [](const T& t) { return labrig::linear(t[0], t[1], t[2]); }},
        {"matmul", [](const T& t) { return labrig::matmul(t[0], t[1]); }},
        {"cross_entropy",
         [](const T& t) { return labrig::cross_entropy(t[0], t[1], t.size() > 2 ? t[2] : labrig::Tensor()); }},
        {"index_select", [](const T& t) { return labrig::index_select(t[0], 0, t[1]); }},
        {"add", [](const T& t) { return labrig::add(t[0], t[1]); }},
        {"sub", [](const T& t) { return labrig::sub(t[0], t[1]); }},
        {"mul", [](const T& t) { return labrig::mul(t[0], t[1]); }},
        {"div", [](const T& t) { return labrig::div(t[0], t[1]); }},
        {"where", [](const T& t) { return labrig::where(t[0], t[1], t[2]); }},
        {"relu", [](const T& t) { return labrig::relu(t[0]); }},
        {"tanh", [](const T& t) { return labrig::tanh(t[0]); }},
        {"sqrt", [](const T& t) { return labrig::sqrt(t[0]); }},
        {"transpose", [](const T& t) { return t[0].t(); }},
        {"first_half", [](const T& t) { return t[0].narrow(0, 0, t[0].size(0) / 2); }}};
    return all;
  }

  void note(const std::string& name, const std::string& by, const std::vector<std::string>& inputs, labrig::Tensor made,
            const std::string& call) {
    made.set_name(name);
    const std::string line = std::to_string(program_.values.size() + 1) + ": " + name + " = " + call;
    Value value{name, by, inputs, made.device(), {}, line};
    for (int d = 0; d < made.dim(); ++d) value.sizes.push_back(made.size(d));
    program_.values.push_back(std::move(value));
    tensors_[name] = std::move(made);
  }

  Program program_;
  std::map<std::string, labrig::Tensor> tensors_;
};

}  // namespace device_mismatch
