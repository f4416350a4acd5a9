// Schedulers set the learning rates of an optimizer, epoch by epoch: call step() after the optimizer's steps of an
// epoch. Values are torch.optim.lr_scheduler's. PyTorch warns when a scheduler is stepped before its optimizer; a
// library that never prints has no place for that, so mind the order: optimizer.step(), then scheduler.step().
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/optim.hpp"

namespace labrig::optim {

// A scheduler refers to its optimizer, which must outlive it.
class LABRIG_API Scheduler {
 public:
  // What continues a run: with it and the optimizer's state a new scheduler goes on where the old one was.
  struct State {
    std::int64_t last_epoch = 0;
    std::vector<double> base_lrs, last_lrs;  // one a group
  };

  virtual ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void step();
  // 0 after construction, then counted up by step().
  std::int64_t last_epoch() const { return state_.last_epoch; }
  // The rates that are set, one a group.
  const std::vector<double>& last_lrs() const { return state_.last_lrs; }
  const State& state_dict() const { return state_; }
  // Throws `bad-scheduler` for another number of groups.
  void load_state_dict(const State& state);

 protected:
  explicit Scheduler(Optimizer& optimizer);
  // The rate of a group for epoch `epoch` > 0, from the one it has now.
  virtual double next_lr(std::int64_t epoch, double lr, double base_lr) const = 0;
  void set_lrs(const std::function<double(double lr, double base_lr)>& rate);

 private:
  Optimizer& optimizer_;
  State state_;
};

// Every `step_size` epochs the rate is multiplied by gamma.
class LABRIG_API StepLR : public Scheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

 private:
  double next_lr(std::int64_t epoch, double lr, double base_lr) const override;
  std::int64_t step_size_;
  double gamma_;
};

// From the base rate down to eta_min over t_max epochs along half a cosine, and up again after that.
class LABRIG_API CosineAnnealingLR : public Scheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min = 0);

 private:
  double next_lr(std::int64_t epoch, double lr, double base_lr) const override;
  std::int64_t t_max_;
  double eta_min_;
};

// The base rate times factor(epoch). A warm-up over 100 steps: [](auto step) { return std::min(1.0, (step + 1) /
// 100.0); }
class LABRIG_API LambdaLR : public Scheduler {
 public:
  LambdaLR(Optimizer& optimizer, std::function<double(std::int64_t epoch)> factor);

 private:
  double next_lr(std::int64_t epoch, double lr, double base_lr) const override;
  std::function<double(std::int64_t epoch)> factor_;
};

}  // namespace labrig::optim
