// The layers. Names, arguments, parameter names and initial values are PyTorch's (the values come from
// default_generator(), so that manual_seed() makes them repeat, on every device alike). The last argument says where
// and of which type the parameters are made: `Linear(784, 10, true, Device("sim:0"))`.
// Read next: module.hpp (what all layers have in common).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "labrig/module.hpp"
#include "labrig/ops.hpp"

namespace labrig::nn {

// Height and width; one number stands for both.
struct Pair {
  std::int64_t height = 0, width = 0;
  constexpr Pair(std::int64_t both) : height(both), width(both) {}
  constexpr Pair(std::int64_t h, std::int64_t w) : height(h), width(w) {}
};

// x [*, in] -> x W^T + bias [*, out]; weight [out, in] and bias [out] uniform within 1 / sqrt(in).
class LABRIG_API Linear : public Module {
 public:
  Linear(std::int64_t in, std::int64_t out, bool with_bias = true, Options options = {});
  Tensor forward(const Tensor& x) override;
  Tensor weight, bias;  // bias is undefined without one
};

struct Conv2dOptions {
  Pair stride = 1, padding = 0;
  bool bias = true;
};
// x [n, in, h, w] -> [n, out, h', w'] (ops.hpp: conv2d); weight [out, in, kh, kw] and bias [out] uniform within
// 1 / sqrt(in kh kw).
class LABRIG_API Conv2d : public Module {
 public:
  Conv2d(std::int64_t in, std::int64_t out, Pair kernel, Conv2dOptions convolution = {}, Options options = {});
  Tensor forward(const Tensor& x) override;
  Tensor weight, bias;

 private:
  Conv2dOptions convolution_;
};

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  // weight (1) and bias (0) of the normalised shape
  bool bias = true;
};
// Normalises over the trailing dimensions `normalized`.
class LABRIG_API LayerNorm : public Module {
 public:
  LayerNorm(const Dims& normalized, LayerNormOptions norm = {}, Options options = {});
  LayerNorm(std::int64_t width, LayerNormOptions norm = {}, Options options = {})
      : LayerNorm(Dims{width}, norm, options) {}
  Tensor forward(const Tensor& x) override;
  Tensor weight, bias;

 private:
  Dims normalized_;
  double eps_;
};

struct BatchNormOptions {
  double eps = 1e-5;
  // Of the running statistics; none: the plain average of all batches (which reads their number: a value
  // synchronisation on a card).
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
};
// Normalises each channel (dimension 1): in training with the statistics of the batch, else with the running ones,
// which are buffers (running_mean, running_var, num_batches_tracked).
class LABRIG_API BatchNorm : public Module {
 public:
  Tensor forward(const Tensor& x) override;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  BatchNorm(std::int64_t channels, BatchNormOptions norm, Options options);
  virtual void check_dimensions(const Tensor& x) const = 0;

 private:
  BatchNormOptions norm_;
};
// x [n, c] or [n, c, length].
class LABRIG_API BatchNorm1d : public BatchNorm {
 public:
  explicit BatchNorm1d(std::int64_t channels, BatchNormOptions norm = {}, Options options = {})
      : BatchNorm(channels, norm, options) {}

 private:
  void check_dimensions(const Tensor& x) const override;
};
// x [n, c, h, w].
class LABRIG_API BatchNorm2d : public BatchNorm {
 public:
  explicit BatchNorm2d(std::int64_t channels, BatchNormOptions norm = {}, Options options = {})
      : BatchNorm(channels, norm, options) {}

 private:
  void check_dimensions(const Tensor& x) const override;
};

// ids [*] -> rows of weight [entries, width], which is normal(0, 1); row `padding_idx` is 0 and gets no gradient.
class LABRIG_API Embedding : public Module {
 public:
  Embedding(std::int64_t entries, std::int64_t width, std::optional<std::int64_t> padding_idx = {},
            Options options = {});
  Tensor forward(const Tensor& ids) override;
  Tensor weight;

 private:
  std::int64_t padding_idx_;  // -1: none
};

class LABRIG_API Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& x) override;

 private:
  double p_;
};

class LABRIG_API ReLU : public Module {
 public:
  explicit ReLU(bool inplace = false) : inplace_(inplace) {}
  Tensor forward(const Tensor& x) override;

 private:
  bool inplace_;
};

class LABRIG_API GELU : public Module {
 public:
  explicit GELU(Gelu approximate = Gelu::none) : approximate_(approximate) {}
  Tensor forward(const Tensor& x) override;

 private:
  Gelu approximate_;
};

class LABRIG_API Tanh : public Module {
 public:
  Tensor forward(const Tensor& x) override;
};

class LABRIG_API Sigmoid : public Module {
 public:
  Tensor forward(const Tensor& x) override;
};

class LABRIG_API Softmax : public Module {
 public:
  explicit Softmax(int dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override;

 private:
  int dim_;
};

// Dimensions start_dim … end_dim become one.
class LABRIG_API Flatten : public Module {
 public:
  explicit Flatten(int start_dim = 1, int end_dim = -1) : start_dim_(start_dim), end_dim_(end_dim) {}
  Tensor forward(const Tensor& x) override;

 private:
  int start_dim_, end_dim_;
};

class LABRIG_API Identity : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x; }
};

// One layer after the other; the children are "0", "1", …:  Sequential(Linear(2, 8), ReLU(), Linear(8, 1)).
class LABRIG_API Sequential : public Module {
 public:
  Sequential() = default;
  template <class First, class... Rest>
    requires(sizeof...(Rest) > 0 || !std::same_as<std::remove_cvref_t<First>, Sequential>)
  explicit Sequential(First&& first, Rest&&... rest) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }

  template <std::derived_from<Module> Layer>
  Sequential& push_back(Layer layer) {
    return append(std::make_shared<Layer>(std::move(layer)));
  }
  std::size_t size() const { return layers_.size(); }
  Module& operator[](std::size_t i) { return *layers_.at(i); }
  Tensor forward(const Tensor& x) override;

 private:
  Sequential& append(std::shared_ptr<Module> layer);

  std::vector<std::shared_ptr<Module>> layers_;  // shared by copies of the handle
};

}  // namespace labrig::nn
