// The described model for real: built from labrig::nn and trained for two steps on a card without values, as a student
// would write it. What the allocator counts there is what a plan must say.
#include <cmath>
#include <memory>

#include "labrig/amp.hpp"
#include "labrig/cost_card.hpp"
#include "labrig/error.hpp"
#include "labrig/memory.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"
#include "plan/units.hpp"

namespace labrig::plan {
namespace {

constexpr std::size_t kNoLimit = std::size_t{400} << 30;  // addresses of a simulated card end not far above

// x [n, length, width]; four linear layers, and two products for each head. Each step lets go what no gradient needs.
struct Attention : nn::Module {
  Attention(std::int64_t width, std::int64_t heads_, double p, Device device)
      : q(width, width, true, device),
        k(width, width, true, device),
        v(width, width, true, device),
        out(width, width, true, device),
        drop(p),
        heads(heads_) {
    register_module("q", q), register_module("k", k), register_module("v", v), register_module("out", out);
    register_module("drop", drop);
  }
  // [n, length, width] -> [n heads, length, width / heads]
  Tensor split(const Tensor& x) const {
    const std::int64_t n = x.size(0), length = x.size(1), part = x.size(2) / heads;
    return x.view({n, length, heads, part}).transpose(1, 2).reshape({n * heads, length, part});
  }
  Tensor forward(const Tensor& x) override {
    const std::int64_t n = x.size(0), length = x.size(1), width = x.size(2);
    const Tensor queries = split(q(x)), keys = split(k(x)), values = split(v(x));
    Tensor weights = bmm(queries, keys.transpose(1, 2));
    weights = mul(weights, 1 / std::sqrt(static_cast<double>(width / heads)));
    weights = softmax(weights, -1);
    weights = drop(weights);
    const Tensor context = bmm(weights, values).view({n, heads, length, width / heads});
    return out(context.transpose(1, 2).reshape({n, length, width}));
  }
  nn::Linear q, k, v, out;
  nn::Dropout drop;
  std::int64_t heads;
};

// x [n, c, h, w] -> [n, c], x [n, length, width] -> [n, width].
struct MeanPool : nn::Module {
  Tensor forward(const Tensor& x) override { return x.dim() == 4 ? mean(x, Dims{2, 3}) : mean(x, 1); }
};

struct Residual : nn::Module {
  explicit Residual(const nn::Sequential& inside_) : inside(inside_) { register_module("inside", inside); }
  Tensor forward(const Tensor& x) override { return add(x, inside(x)); }
  nn::Sequential inside;
};

nn::Sequential sequential(const std::vector<Unit>& units, Device device);

void push_convolution(nn::Sequential& to, const Layer& layer, std::int64_t channels, Device device) {
  const nn::Conv2dOptions options{layer.stride, layer.padding, layer.bias};
  to.push_back(nn::Conv2d(channels, layer.out, layer.kernel, options, device));
}

void push_batch_norm(nn::Sequential& to, const Dims& in, Device device) {
  if (in.count() == 1)
    to.push_back(nn::BatchNorm1d(in[0], {}, device));
  else
    to.push_back(nn::BatchNorm2d(in[0], {}, device));
}

void push(nn::Sequential& to, const Unit& unit, Device device) {
  const Layer& layer = unit.layer;
  const std::int64_t last = unit.in.count() > 0 ? unit.in[unit.in.count() - 1] : 0;
  switch (layer.kind) {
    case Kind::linear:
      to.push_back(nn::Linear(last, layer.out, layer.bias, device));
      return;
    case Kind::conv2d:
      return push_convolution(to, layer, unit.in[0], device);
    case Kind::layer_norm:
      to.push_back(nn::LayerNorm(last, {}, device));
      return;
    case Kind::batch_norm:
      return push_batch_norm(to, unit.in, device);
    case Kind::embedding:
      to.push_back(nn::Embedding(layer.entries, layer.out, {}, device));
      return;
    case Kind::attention:
      to.push_back(Attention(last, layer.heads, layer.p, device));
      return;
    case Kind::relu:
      to.push_back(nn::ReLU(layer.inplace));
      return;
    case Kind::gelu:
      to.push_back(nn::GELU());
      return;
    case Kind::tanh:
      to.push_back(nn::Tanh());
      return;
    case Kind::sigmoid:
      to.push_back(nn::Sigmoid());
      return;
    case Kind::softmax:
      to.push_back(nn::Softmax(-1));
      return;
    case Kind::dropout:
      to.push_back(nn::Dropout(layer.p));
      return;
    case Kind::flatten:
      to.push_back(nn::Flatten());
      return;
    case Kind::mean_pool:
      to.push_back(MeanPool());
      return;
    case Kind::residual:
      to.push_back(Residual(sequential(unit.inside, device)));
      return;
    case Kind::repeat:
    case Kind::transformer_block:
      return;  // no unit is of these kinds
  }
}

nn::Sequential sequential(const std::vector<Unit>& units, Device device) {
  nn::Sequential layers;
  for (const Unit& unit : units) push(layers, unit, device);
  return layers;
}

std::unique_ptr<optim::Optimizer> optimizer_for(Optimizer kind, const std::vector<Tensor>& parameters) {
  switch (kind) {
    case Optimizer::sgd:
      return std::make_unique<optim::SGD>(parameters);
    case Optimizer::sgd_momentum:
      return std::make_unique<optim::SGD>(parameters, optim::SgdOptions{.momentum = 0.9});
    case Optimizer::adam:
      return std::make_unique<optim::Adam>(parameters);
    default:
      return std::make_unique<optim::AdamW>(parameters);
  }
}

Dims batched(std::int64_t batch, const Dims& sample) {
  Dims sizes{batch};
  for (const std::int64_t size : sample) sizes.push_back(size);
  return sizes;
}

class Run {
 public:
  Run(const Units& units, Loss loss, const Training& training, Device device)
      : device_(device),
        loss_(loss),
        autocast_(training.precision != Precision::f32),
        scaled_(training.precision == Precision::f16),
        accumulates_(training.accumulates),
        low_(training.precision == Precision::bf16 ? kBF16 : kF16),
        x_(zeros(batched(training.batch, units.input), Options(units.takes_ids ? kI64 : kF32, device))),
        target_(target_of(units, training.batch)),
        model_(sequential(units.units, device)),
        optimizer_(optimizer_for(training.optimizer, model_.parameters())) {}

  void step() {
    if (!accumulates_) optimizer_->zero_grad();
    Tensor loss = forward();
    if (scaled_) loss = scaler_.scale(loss);
    loss.backward();
    // As GradScaler::step(), which would read from the card whether to step: there are no values here.
    if (scaled_) scaler_.unscale_(*optimizer_);
    optimizer_->step();
    if (scaled_) scaler_.update();
  }

 private:
  // A class for each row of scores, or a number for each score.
  Tensor target_of(const Units& units, std::int64_t batch) const {
    Dims sizes = batched(batch, units.output);
    if (loss_ != Loss::cross_entropy) return zeros(sizes, device_);
    return zeros({sizes.product() / sizes[sizes.count() - 1]}, Options(kI64, device_));
  }

  Tensor forward() {
    const amp::AutocastGuard region(device_.type(), low_, autocast_);
    const Tensor y = model_.forward(x_);
    if (loss_ == Loss::mse) return mse_loss(y, target_);
    if (loss_ == Loss::bce_with_logits) return binary_cross_entropy_with_logits(y, target_);
    return cross_entropy(y.reshape({-1, y.size(-1)}), target_);
  }

  Device device_;
  Loss loss_;
  bool autocast_, scaled_, accumulates_;
  Dtype low_;
  Tensor x_, target_;
  nn::Sequential model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  amp::GradScaler scaler_;
};

}  // namespace

std::size_t measured_peak_bytes(const Model& model, const Training& training, std::size_t capacity_bytes) {
  if (model.totals)
    throw Error("bad-model", "only a model of layers can be measured", "this one is described by its totals alone",
                "describe its layers");
  const Units units = units_of(model);
  const lab::CostCard card("h200", {.capacity_bytes = capacity_bytes == 0 ? kNoLimit : capacity_bytes});
  Run run(units, model.loss, training, card.device());
  run.step();
  run.step();
  return max_memory_allocated(card.device());
}

}  // namespace labrig::plan
