// Autocast regions: what AutocastGuard hangs into ThreadState::autocast. A region starts as a copy of the one around it
// and changes the entry of its device type. The outermost one owns the weight cache.
//
//   guard(sim)            sim: f16            cache
//     guard(cpu)          sim: f16, cpu: bf16   |
//       guard(sim, off)   sim: off, cpu: bf16   |  cleared when the first guard ends
#include <array>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include "amp/policy.hpp"
#include "device/thread_state.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "tensor/impl.hpp"

namespace labrig::amp {
namespace {

// The low precision copies of weights. A weight is found by its identity; the entry of one that is gone is replaced.
class WeightCache {
 public:
  // As in PyTorch: f32, a leaf that requires a gradient, and no view.
  static bool takes(const Tensor& weight) {
    return weight.dtype() == kF32 && weight.requires_grad() && weight.is_leaf() &&
           weight.impl()->storage->bytes() == weight.nbytes();
  }
  Tensor cast(const Tensor& weight, Dtype dtype) {
    Entry& entry = entries_[weight.impl().get()];
    if (entry.weight.lock() != weight.impl() || entry.low.dtype() != dtype) {
      const EnableGradGuard grad;  // a later use, with gradients on, must find the way back to the weight
      entry = {weight.impl(), weight.to(dtype)};
    }
    return entry.low;
  }

 private:
  struct Entry {
    std::weak_ptr<TensorImpl> weight;
    Tensor low;
  };
  std::map<const TensorImpl*, Entry> entries_;
};

struct TypeState {
  bool enabled = false;
  Dtype dtype = kF16;
};

}  // namespace

class AutocastRegion final : public AutocastRules {
 public:
  AutocastRegion(DeviceType type, TypeState state, bool cache_enabled) : outer_(current()) {
    if (outer_ != nullptr) {
      types_ = outer_->types_;
      cache_ = outer_->cache_;
    } else {
      own_cache_ = std::make_unique<WeightCache>();
      cache_ = own_cache_.get();
    }
    types_[static_cast<std::size_t>(type)] = state;
    cache_enabled_ = cache_enabled;
    thread_state().autocast = this;
  }
  ~AutocastRegion() { thread_state().autocast = outer_; }
  AutocastRegion(const AutocastRegion&) = delete;
  AutocastRegion& operator=(const AutocastRegion&) = delete;

  // The innermost region of the calling thread: nothing else hangs itself in there.
  static AutocastRegion* current() { return static_cast<AutocastRegion*>(thread_state().autocast); }
  const TypeState& at(DeviceType type) const { return types_[static_cast<std::size_t>(type)]; }

  void cast(const char* op, std::span<Tensor> inputs) override {
    for (const DeviceType type : {DeviceType::cpu, DeviceType::sim, DeviceType::cuda})
      if (at(type).enabled) cast_on(type, op, inputs);
  }

 private:
  void cast_on(DeviceType type, const char* op, std::span<Tensor> inputs) const {
    std::vector<Dtype> dtypes;
    for (const Tensor& input : inputs)
      if (input.defined() && input.device().type() == type) dtypes.push_back(input.dtype());
    if (dtypes.empty()) return;
    const Dtype low = at(type).dtype;
    const std::optional<Dtype> wanted = cast_type(op, policy(op, type), low, dtypes);
    if (!wanted) return;
    // From the last to the first, as PyTorch does: the way back casts the gradient of a weight before that of its bias,
    // and needs less memory while it does.
    for (Tensor& input : inputs | std::views::reverse) {
      if (!input.defined() || input.device().type() != type) continue;
      if (!is_eligible(input.dtype()) || input.dtype() == *wanted) continue;
      const bool keep = *wanted == low && cache_enabled_ && WeightCache::takes(input);
      input = keep ? cache_->cast(input, low) : input.to(*wanted);
    }
  }

  AutocastRegion* outer_;
  std::array<TypeState, 3> types_;  // by DeviceType
  bool cache_enabled_ = true;
  std::unique_ptr<WeightCache> own_cache_;  // of the outermost region
  WeightCache* cache_ = nullptr;            // that one, for all inside it
};

Dtype default_autocast_dtype(DeviceType type) { return type == DeviceType::cpu ? kBF16 : kF16; }

AutocastGuard::AutocastGuard(DeviceType type, bool enabled, bool cache_enabled)
    : AutocastGuard(type, default_autocast_dtype(type), enabled, cache_enabled) {}

AutocastGuard::AutocastGuard(DeviceType type, Dtype dtype, bool enabled, bool cache_enabled) {
  if (enabled && dtype != kF16 && dtype != kBF16)
    throw Error("autocast-dtype", "Autocast only supports dtype of torch.bfloat16, torch.float16 currently.",
                std::string("a region was opened for ") + name_of(dtype) +
                    "; autocast exists to run products in 16 bits, everything else stays as it is without it",
                "give f16 or bf16, or open no region");
  region_ = std::make_unique<AutocastRegion>(type, TypeState{enabled, dtype}, cache_enabled);
}

AutocastGuard::~AutocastGuard() = default;

bool is_autocast_enabled(DeviceType type) {
  const AutocastRegion* const region = AutocastRegion::current();
  return region != nullptr && region->at(type).enabled;
}

Dtype autocast_dtype(DeviceType type) {
  const AutocastRegion* const region = AutocastRegion::current();
  return region != nullptr && region->at(type).enabled ? region->at(type).dtype : default_autocast_dtype(type);
}

}  // namespace labrig::amp
