// Mixed precision: autocast runs the operators of a scope in the type that suits each (products in f16 or bf16, sums
// and losses in f32); GradScaler keeps small f16 gradients from becoming 0. A library of its own: link labrig::amp.
//
//   amp::GradScaler scaler(device.type());
//   for (...) {
//     optimizer.zero_grad();
//     Tensor loss;
//     {
//       const amp::AutocastGuard guard(device.type());
//       loss = cross_entropy(model.forward(x), target);
//     }                                   // backward outside: it uses the types of the forward pass
//     scaler.scale(loss).backward();
//     scaler.step(optimizer);             // unscales; skips the step when a gradient is not finite
//     scaler.update();
//   }
//
// Read next: reference/src/amp/policy.cpp (which operator runs in which type), docs/errors/amp.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/device.hpp"
#include "labrig/dtype.hpp"
#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig::optim {
class Optimizer;  // optim.hpp
}

namespace labrig::amp {

// --- autocast ------------------------------------------------------------------------------------------------------
// The low precision type of a region that names none: f16 on cards, bf16 on the host.
LABRIG_API Dtype default_autocast_dtype(DeviceType type);

class AutocastRegion;  // reference/src/amp/autocast.cpp
// While it lives, operators of the calling thread cast their inputs as the table below says. Only inputs on a device of
// the given type, of a floating point type other than f64, are cast; in-place forms never are. Regions nest: the inner
// one decides for its own device type, also when it is not `enabled`. With `cache_enabled`, the cast of an f32 leaf
// that requires a gradient (a weight) is made once and kept until the outermost region ends. Guards are ended in the
// reverse order.
// Throws `autocast-dtype` when the low precision type is neither f16 nor bf16.
class LABRIG_API AutocastGuard {
 public:
  explicit AutocastGuard(DeviceType type, bool enabled = true, bool cache_enabled = true);
  AutocastGuard(DeviceType type, Dtype dtype, bool enabled = true, bool cache_enabled = true);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  std::unique_ptr<AutocastRegion> region_;
};

// Of the calling thread: whether a region is open for devices of this type, and its low precision type.
LABRIG_API bool is_autocast_enabled(DeviceType type);
LABRIG_API Dtype autocast_dtype(DeviceType type);

// What a region does to the inputs of an operator.
enum class Policy : std::uint8_t {
  lower,       // cast to the low precision type
  f32,         // cast to f32
  f32_output,  // computed, and returned, in f32
  widest,      // cast to the widest type among them
  unlisted,    // left alone; the operator's own promotion applies
  banned,      // refused: the error says what to use instead
};
LABRIG_API const char* name_of(Policy policy);
// PyTorch's lists. `op` is PyTorch's name ("matmul", "exp", "binary_cross_entropy"). The host has another list than
// cards.
LABRIG_API Policy policy(std::string_view op, DeviceType type);
// The type of the result of `op` on inputs of types a and b (operators with one input ignore b) in a region of this low
// precision type. Throws `banned-under-autocast`; `dtype-mismatch` where the operator refuses the types that it gets.
LABRIG_API Dtype result_dtype(std::string_view op, Dtype autocast_dtype, Dtype a, Dtype b,
                              DeviceType type = DeviceType::cuda);

// --- loss scaling --------------------------------------------------------------------------------------------------
struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  // steps without overflow before the scale grows
  bool enabled = true;                  // false: every call passes its arguments through
};

// Multiplies the loss, so that f16 gradients do not underflow, and divides the gradients again before the step. A step
// whose gradients are not finite is skipped and lowers the scale; a row of good ones raises it. PyTorch's GradScaler,
// state for state. Scale and tracker live on the device of the first scaled loss; only step() waits for it, once for
// each device that has gradients.
class LABRIG_API GradScaler {
 public:
  // Throws `invalid-argument`: growth_factor must be above 1, backoff_factor below 1.
  explicit GradScaler(GradScalerOptions options = {});
  ~GradScaler();
  GradScaler(GradScaler&&) noexcept;
  GradScaler& operator=(GradScaler&&) noexcept;

  // outputs * scale, with gradient.
  Tensor scale(const Tensor& output);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);
  // Divides the gradients of the optimizer's parameters by the scale, in place, and notes whether all are finite. To be
  // called at most once an iteration, before gradients are clipped or looked at; step() does it otherwise. Throws
  // `scaler-order`, and `f16-gradients` for gradients in f16.
  void unscale_(optim::Optimizer& optimizer);
  // Unscales unless that was done, and steps unless a gradient is not finite. Returns whether the optimizer stepped.
  // Throws `scaler-order`.
  bool step(optim::Optimizer& optimizer);
  // Ends the iteration: lowers or raises the scale by what the steps since the last update() found (one overflow counts
  // for all optimizers), or sets it to `new_scale`. Throws `scaler-order`.
  void update();
  void update(double new_scale);
  // `new_scale`: one f32 element that requires no gradient.
  void update(const Tensor& new_scale);

  bool is_enabled() const { return options_.enabled; }
  // Waits for the device, once there is a scale there; 1 when not enabled.
  double get_scale() const;
  std::int64_t get_growth_tracker() const;
  double get_growth_factor() const { return options_.growth_factor; }
  double get_backoff_factor() const { return options_.backoff_factor; }
  std::int64_t get_growth_interval() const { return options_.growth_interval; }
  void set_growth_factor(double factor) { options_.growth_factor = factor; }
  void set_backoff_factor(double factor) { options_.backoff_factor = factor; }
  void set_growth_interval(std::int64_t steps) { options_.growth_interval = steps; }

  // PyTorch's five keys: scale, growth_factor, backoff_factor, growth_interval, _growth_tracker; none when not enabled.
  using State = std::map<std::string, double>;
  State state_dict() const;
  // Throws `empty-scaler-state`, `missing-key`.
  void load_state_dict(const State& state);

 private:
  struct Steps;  // where each optimizer is between two updates
  void require_scale(const char* call) const;

  GradScalerOptions options_;
  std::int64_t first_tracker_ = 0;  // until there is a scale on a device
  Tensor scale_, growth_tracker_;   // f32 and i32, 0-dim
  std::unique_ptr<Steps> steps_;
};

}  // namespace labrig::amp
