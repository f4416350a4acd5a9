// The histories that task 1 is about, recorded from training loops that really run, on a simulated card in cost-only
// mode (only sizes matter). Each cause has its own fault in the same loop; everything else (sizes, optimizer, how long,
// whether it ends in an error) is drawn from the seed. For the judge and for tests.
//
//   load: model, optimizer ─▶ [resume] ─▶ train, train, train ─▶ eval, eval ─▶ train …            one row each
//
// What tells the causes apart stands in plans.hpp and in the handout. Read next: recorder.hpp (what a row is).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labrig/autograd.hpp"
#include "labrig/cost_card.hpp"
#include "labrig/history.hpp"
#include "labrig/memory.hpp"
#include "labrig/nn.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"
#include "plans.hpp"
#include "recorder.hpp"

namespace oom_triage {

class FaultyLoop {
 public:
  explicit FaultyLoop(const LoopPlan& plan)
      : plan_(plan),
        card_("tiny-256mib", changes(plan)),
        device_(card_.device()),
        recorder_(device_, static_cast<std::size_t>(plan.context_mib * kMiB)) {}

  labrig::MemoryHistory run() {
    try {
      load();
      if (plan_.resumes) resume();
      for (step_ = 0; step_ < static_cast<std::int64_t>(plan_.batches.size()); ++step_) {
        train(plan_.batches[static_cast<std::size_t>(step_)]);
        if (plan_.eval_every > 0 && step_ % plan_.eval_every == plan_.eval_every - 1) evaluate();
      }
    } catch (const labrig::OutOfMemoryError& error) {
      recorder_.failed(step_, error.facts());
    }
    return recorder_.take();
  }

 private:
  using Tensor = labrig::Tensor;

  // The context is memory of the card that no allocator of this process sees; the card counts it as another's.
  static labrig::lab::CostCardChanges changes(const LoopPlan& plan) {
    labrig::lab::CostCardChanges changes;
    changes.capacity_bytes = static_cast<std::size_t>(plan.capacity_mib * kMiB);
    changes.other_processes_bytes = static_cast<std::size_t>((plan.context_mib + plan.others_mib) * kMiB);
    if (plan.later_mib) {
      changes.later_seconds = plan.later_ms * 1e-3;
      changes.later_bytes = static_cast<std::size_t>((plan.context_mib + *plan.later_mib) * kMiB);
    }
    return changes;
  }

  void load() {
    for (std::int64_t i = 0; i < plan_.depth; ++i) {
      layers_.push_back(std::make_unique<labrig::nn::Linear>(plan_.width, plan_.width, true, device_));
      model_.register_module(std::to_string(i), *layers_.back());
    }
    if (plan_.adam) {
      optimizer_ = std::make_unique<labrig::optim::Adam>(model_.parameters());
    } else {
      optimizer_ =
          std::make_unique<labrig::optim::SGD>(model_.parameters(), labrig::optim::SgdOptions{.momentum = 0.9});
    }
    recorder_.row(0, 0);
  }

  // The checkpoint is read straight onto the card: parameters, and the optimizer's state.
  void resume() {
    recorder_.begin("resume");
    labrig::NamedTensors weights;
    labrig::optim::State state = optimizer_->state_dict();
    std::int64_t number = 0;
    for (const auto& [name, parameter] : model_.named_parameters()) {
      const auto saved = [&](const std::string& what) {
        Tensor tensor = labrig::empty(parameter.sizes(), device_);
        tensor.set_name("checkpoint " + what);
        checkpoint_.push_back(tensor);
        return tensor;
      };
      weights.emplace_back(name, saved(name));
      for (const char* what : {"exp_avg", "exp_avg_sq"}) state.state[number][what] = saved(what);
      state.state[number]["step"] = labrig::full({}, 100);
      ++number;
    }
    recorder_.row(0, 0);
    model_.load_state_dict(weights);
    optimizer_->load_state_dict(state);
    weights.clear();
    state = {};
    if (!plan_.keeps_checkpoint) checkpoint_.clear();
    recorder_.row(0, 0);
    recorder_.owners();
  }

  Tensor batch(std::int64_t rows, std::int64_t width, const char* name) const {
    return labrig::empty({rows, width}, device_).set_name(name);
  }

  Tensor forward(Tensor x) {
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
      x = labrig::relu((*layers_[i])(x));
      if (static_cast<std::int64_t>(i) == step_ % (plan_.depth - 1) && labrig::grad_enabled()) hidden_ = x.detach();
    }
    return (*layers_.back())(x);
  }

  void train(std::int64_t rows) {
    recorder_.begin("train");
    const Tensor x = batch(rows, plan_.width, "x"), y = batch(rows, plan_.width, "y");
    optimizer_->zero_grad();
    Tensor output = forward(x);
    Tensor loss = labrig::mse_loss(output, y);
    if (plan_.pairs_from >= 0 && step_ >= plan_.pairs_from) loss = loss + spread_of(output);
    const bool retain = plan_.keep == LoopPlan::Keep::retained_losses;
    loss.backward({}, retain);
    optimizer_->step();
    if (retain) kept_.push_back(loss);
    if (plan_.keep == LoopPlan::Keep::watched_losses) kept_.push_back(labrig::mse_loss(forward(x), y));
    if (plan_.keep == LoopPlan::Keep::outputs) kept_.push_back(output.detach());
    if (step_ < plan_.bank) kept_.push_back(hidden_);
    hidden_ = {};
    output = {};
    recorder_.row(step_, rows);
    if (step_ == 1 || step_ + 1 == static_cast<std::int64_t>(plan_.batches.size()) || step_ % 6 == 5)
      recorder_.owners();
  }

  // How far the outputs of some rows lie apart, each from each: one product of [rows, rows].
  Tensor spread_of(const Tensor& output) const {
    const Tensor some = output.narrow(0, 0, plan_.pairs_rows);
    return labrig::mean(labrig::matmul(some, some.t()));
  }

  void evaluate() {
    recorder_.begin("eval");
    const labrig::GradModeGuard mode(plan_.eval_with_grad);
    Tensor loss;  // lives on while the next batch is computed, as a variable of a loop does in Python
    for (std::int64_t pass = 0; pass < plan_.eval_passes; ++pass) {
      const Tensor x = batch(plan_.eval_rows, plan_.width, "x"), y = batch(plan_.eval_rows, plan_.width, "y");
      Tensor output = forward(x);
      loss = labrig::mse_loss(output, y);
      if (plan_.keep == LoopPlan::Keep::predictions) kept_.push_back(output);
      output = {};
      recorder_.row(step_, plan_.eval_rows);
    }
    recorder_.owners();
  }

  const LoopPlan plan_;
  labrig::lab::CostCard card_;
  labrig::Device device_;
  Recorder recorder_;
  std::vector<std::unique_ptr<labrig::nn::Linear>> layers_;
  labrig::nn::Module model_;
  std::unique_ptr<labrig::optim::Optimizer> optimizer_;
  std::vector<Tensor> checkpoint_, kept_;
  Tensor hidden_;
  std::int64_t step_ = 0;
};

// The history of a loop with this fault. Equal arguments give equal histories.
inline labrig::MemoryHistory record_history(labrig::MemoryCause cause, std::uint64_t seed) {
  return FaultyLoop(Planner(cause, seed).plan()).run();
}

}  // namespace oom_triage
