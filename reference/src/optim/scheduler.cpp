// Learning rates over the epochs. Rates are taken on from the one before, as PyTorch does, so that schedulers can be
// chained and rates changed by hand in between.
#include "labrig/scheduler.hpp"

#include <cmath>
#include <numbers>

#include "labrig/error.hpp"

namespace labrig::optim {

Scheduler::Scheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (ParameterGroup& group : optimizer.param_groups()) {
    // Where another scheduler was there before, it is its base rate.
    group.settings.try_emplace("initial_lr", group.lr());
    state_.base_lrs.push_back(group.settings.at("initial_lr"));
    state_.last_lrs.push_back(group.lr());
  }
}

Scheduler::~Scheduler() = default;

void Scheduler::set_lrs(const std::function<double(double lr, double base_lr)>& rate) {
  auto& groups = optimizer_.param_groups();
  if (groups.size() != state_.base_lrs.size()) {
    throw Error("bad-scheduler",
                "the optimizer has " + std::to_string(groups.size()) + " parameter groups, and the scheduler knows " +
                    std::to_string(state_.base_lrs.size()),
                "a group was added after the scheduler was made, so the scheduler has no base rate for it",
                "add all groups first");
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    state_.last_lrs[i] = groups[i].lr() = rate(groups[i].lr(), state_.base_lrs[i]);
  }
}

void Scheduler::step() {
  ++state_.last_epoch;
  set_lrs([&](double lr, double base_lr) { return next_lr(state_.last_epoch, lr, base_lr); });
}

void Scheduler::load_state_dict(const State& state) {
  const std::size_t ours = state_.base_lrs.size();
  if (state.base_lrs.size() != ours || state.last_lrs.size() != ours) {
    throw Error("bad-scheduler", "loaded state is of " + std::to_string(state.base_lrs.size()) + " parameter groups",
                "the optimizer of this scheduler has " + std::to_string(ours), "build it as it was when it was saved");
  }
  state_ = state;
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : Scheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  if (step_size >= 1) return;
  throw Error("bad-scheduler", "step_size must be 1 or more, not " + std::to_string(step_size),
              "it counts the epochs between two changes", "pass a number of epochs");
}

double StepLR::next_lr(std::int64_t epoch, double lr, double) const {
  return epoch % step_size_ == 0 ? lr * gamma_ : lr;
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min)
    : Scheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  if (t_max >= 1) return;
  throw Error("bad-scheduler", "T_max must be 1 or more, not " + std::to_string(t_max),
              "it counts the epochs down to eta_min", "pass a number of epochs");
}

// The closed form is eta_min + (base - eta_min) (1 + cos(pi epoch / t_max)) / 2; PyTorch takes the quotient of two
// neighbours of it, and starts anew where the lower one is 0.
double CosineAnnealingLR::next_lr(std::int64_t epoch, double lr, double base_lr) const {
  const double pi = std::numbers::pi, t_max = static_cast<double>(t_max_);
  if ((epoch - 1 - t_max_) % (2 * t_max_) == 0) return lr + (base_lr - eta_min_) * (1 - std::cos(pi / t_max)) / 2;
  const double above = 1 + std::cos(pi * static_cast<double>(epoch) / t_max);
  const double below = 1 + std::cos(pi * static_cast<double>(epoch - 1) / t_max);
  return above / below * (lr - eta_min_) + eta_min_;
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(std::int64_t epoch)> factor)
    : Scheduler(optimizer), factor_(std::move(factor)) {
  set_lrs([&](double, double base_lr) { return base_lr * factor_(0); });
}

double LambdaLR::next_lr(std::int64_t epoch, double, double base_lr) const { return base_lr * factor_(epoch); }

}  // namespace labrig::optim
