// The layers of nn.hpp: each makes its parameters and calls its operator. Read next: batch_norm.cpp.
#include <cmath>

#include "labrig/error.hpp"
#include "labrig/nn.hpp"
#include "labrig/random.hpp"
#include "tensor/impl.hpp"
#include "tensor/python_number.hpp"

namespace labrig::nn {
namespace {

// kaiming_uniform_ with a = sqrt(5), as PyTorch's layers use it, comes to 1 / sqrt(fan in).
Tensor uniform_by_fan_in(const Dims& sizes, std::int64_t fan_in, Options options) {
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  return uniform_(with_origin(empty(sizes, options), Origin::made_by("a layer")), -bound, bound);
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias, Options options)
    : weight(register_parameter("weight", uniform_by_fan_in({out, in}, in, options))),
      bias(register_parameter("bias", with_bias ? uniform_by_fan_in({out}, in, options) : Tensor())) {}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }

Conv2d::Conv2d(std::int64_t in, std::int64_t out, Pair kernel, Conv2dOptions convolution, Options options)
    : convolution_(convolution) {
  const std::int64_t fan_in = in * kernel.height * kernel.width;
  weight = register_parameter("weight", uniform_by_fan_in({out, in, kernel.height, kernel.width}, fan_in, options));
  bias = register_parameter("bias", convolution.bias ? uniform_by_fan_in({out}, fan_in, options) : Tensor());
}

Tensor Conv2d::forward(const Tensor& x) {
  const auto& [stride, padding, has_bias] = convolution_;
  return conv2d(x, weight, bias, {stride.height, stride.width}, {padding.height, padding.width});
}

LayerNorm::LayerNorm(const Dims& normalized, LayerNormOptions norm, Options options)
    : normalized_(normalized), eps_(norm.eps) {
  const bool has_bias = norm.elementwise_affine && norm.bias;
  weight = register_parameter("weight", norm.elementwise_affine ? ones(normalized, options) : Tensor());
  bias = register_parameter("bias", has_bias ? zeros(normalized, options) : Tensor());
}

Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, normalized_, weight, bias, eps_); }

Embedding::Embedding(std::int64_t entries, std::int64_t width, std::optional<std::int64_t> padding_idx, Options options)
    : padding_idx_(padding_idx.value_or(-1)) {
  if (padding_idx && (*padding_idx < -entries || *padding_idx >= entries)) {
    throw Error("index-out-of-range", "Padding_idx must be within num_embeddings",
                std::to_string(*padding_idx) + " is no row of a table of " + std::to_string(entries),
                "pass a row number, or none");
  }
  if (padding_idx && *padding_idx < 0) padding_idx_ += entries;
  const Tensor table = normal_(with_origin(empty({entries, width}, options), Origin::made_by("a layer")));
  if (padding_idx) table[padding_idx_].zero_();
  weight = register_parameter("weight", table);
}

Tensor Embedding::forward(const Tensor& ids) { return embedding(ids, weight, padding_idx_); }

Dropout::Dropout(double p) : p_(p) {
  if (p >= 0 && p <= 1) return;
  throw Error("bad-probability", "dropout probability has to be between 0 and 1, but got " + python_number(p),
              "it is the part of the elements that become 0", "pass 0.1 to drop a tenth");
}

Tensor Dropout::forward(const Tensor& x) { return dropout(x, p_, is_training()); }

Tensor ReLU::forward(const Tensor& x) { return inplace_ ? relu_(x) : relu(x); }
Tensor GELU::forward(const Tensor& x) { return gelu(x, approximate_); }
Tensor Tanh::forward(const Tensor& x) { return tanh(x); }
Tensor Sigmoid::forward(const Tensor& x) { return sigmoid(x); }
Tensor Softmax::forward(const Tensor& x) { return softmax(x, dim_); }

Tensor Flatten::forward(const Tensor& x) {
  if (x.dim() == 0) return x.reshape({1});
  const int first = wrap_dim(start_dim_, x.dim()), last = wrap_dim(end_dim_, x.dim());
  if (first > last) {
    throw Error("invalid-shape", "flatten() has invalid args: start_dim cannot come after end_dim",
                "dimension " + std::to_string(first) + " lies behind dimension " + std::to_string(last),
                "exchange them");
  }
  Dims sizes;
  std::int64_t joined = 1;
  for (int dim = 0; dim < x.dim(); ++dim) {
    if (dim >= first && dim <= last) joined *= x.size(dim);
    if (dim == last) sizes.push_back(joined);
    if (dim < first || dim > last) sizes.push_back(x.size(dim));
  }
  return x.reshape(sizes);
}

Sequential& Sequential::append(std::shared_ptr<Module> layer) {
  register_module(std::to_string(layers_.size()), *layer);
  layers_.push_back(std::move(layer));
  return *this;
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor value = x;
  for (const auto& layer : layers_) value = layer->forward(value);
  return value;
}

}  // namespace labrig::nn
