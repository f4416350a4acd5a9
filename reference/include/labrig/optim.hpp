// Optimizers: what changes parameters by their gradients. Updates are PyTorch's to the last operation; each parameter
// takes one kernel a step, which is queued like any other: no step waits for a card. State (momentum, averages) is made
// at the first step, on the parameter's device, named "exp_avg of 'fc1.weight'". Read next: scheduler.hpp (learning
// rates over time), amp.hpp (steps that may be skipped).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig::optim {

// Numbers by PyTorch's names: "lr", "momentum", "weight_decay", … ("beta1" and "beta2" for the pair `betas`; flags are
// 0 or 1).
using Settings = std::map<std::string, double>;

// Parameters that share settings. Those not given are the optimizer's.
struct ParameterGroup {
  std::vector<Tensor> params;
  Settings settings;

  double& lr() { return settings.at("lr"); }
  double lr() const { return settings.at("lr"); }
};

// What an optimizer remembers, in PyTorch's layout: parameters are numbered through all groups. The tensors are the
// optimizer's own, not copies.
struct State {
  struct Group {
    Settings settings;
    std::vector<std::int64_t> params;
  };
  // Of each parameter that has been stepped: "momentum_buffer" | "exp_avg", "exp_avg_sq" and "step" (0-dim f32 on the
  // CPU).
  std::map<std::int64_t, std::map<std::string, Tensor>> state;
  std::vector<Group> param_groups;
};

class LABRIG_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;  // schedulers and scalers know an optimizer by its address
  Optimizer& operator=(const Optimizer&) = delete;

  // Changes every parameter that has a gradient; the others stay as they are.
  void step();
  // Lets the gradients go (their memory with them), or sets them to 0.
  void zero_grad(bool set_to_none = true);

  // To read, and to change settings between steps.
  std::vector<ParameterGroup>& param_groups() { return groups_; }
  const std::vector<ParameterGroup>& param_groups() const { return groups_; }
  // Throws `bad-optimizer` for parameters that are no leaves or are in another group, and for unknown settings.
  void add_param_group(ParameterGroup group);

  State state_dict() const;
  // Takes over settings and state; state goes to the device and type of its parameter. Throws `bad-optimizer` when
  // groups differ in number or size; then nothing has changed.
  void load_state_dict(const State& state);

 protected:
  // What is remembered of one parameter.
  struct Memory {
    std::int64_t step = 0;                  // how often it was stepped
    std::map<std::string, Tensor> tensors;  // by PyTorch's names
  };
  explicit Optimizer(Settings defaults);
  virtual void update(const Tensor& parameter, const Tensor& gradient, const Settings& settings, Memory& memory) = 0;
  // Throws `bad-optimizer` with PyTorch's text for values that make no sense.
  virtual void check(const Settings& settings) const = 0;
  // Whether state_dict() has the number of steps.
  virtual bool counts_steps() const = 0;
  // The derived constructor's last call: takes the groups. Throws `bad-optimizer` for no parameters at all, and as
  // add_param_group.
  void start(std::vector<ParameterGroup> groups);
  // A tensor of the memory, made of zeros like the parameter when it is first asked for.
  static const Tensor& remembered(Memory& memory, const Tensor& parameter, const char* what);

 private:
  std::vector<ParameterGroup> groups_;
  Settings defaults_;
  // Of the parameters that have been stepped, in that order, and which is whose. The map is looked up, never walked:
  // addresses have no order to rely on, and tensors must be freed in the same order in every run.
  std::vector<Memory> memory_;
  std::map<const TensorImpl*, std::size_t> memory_of_;
};

struct SgdOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
};
// p -= lr g, with the momentum, dampening, L2 decay and Nesterov forms of torch.optim.SGD.
class LABRIG_API SGD : public Optimizer {
 public:
  explicit SGD(const std::vector<Tensor>& parameters, const SgdOptions& options = {});
  explicit SGD(std::vector<ParameterGroup> groups, const SgdOptions& options = {});

 private:
  void update(const Tensor& parameter, const Tensor& gradient, const Settings& settings, Memory& memory) override;
  void check(const Settings& settings) const override;
  bool counts_steps() const override { return false; }
};

struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};
// torch.optim.Adam: weight_decay is added to the gradient (L2).
class LABRIG_API Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {});
  explicit Adam(std::vector<ParameterGroup> groups, const AdamOptions& options = {});

 protected:
  Adam(std::vector<ParameterGroup> groups, const AdamOptions& options, bool decoupled);

 private:
  void update(const Tensor& parameter, const Tensor& gradient, const Settings& settings, Memory& memory) override;
  void check(const Settings& settings) const override;
  bool counts_steps() const override { return true; }

  bool decoupled_ = false;
};

struct AdamWOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
};
// torch.optim.AdamW: weight_decay shrinks the parameter, apart from the gradient.
class LABRIG_API AdamW : public Adam {
 public:
  explicit AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options = {});
  explicit AdamW(std::vector<ParameterGroup> groups, const AdamWOptions& options = {});
};

}  // namespace labrig::optim
