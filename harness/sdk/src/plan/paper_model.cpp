// The model and its step on paper, line by line what measure.cpp does with labrig::nn.
#include "plan/paper_model.hpp"

#include <utility>

#include "plan/paper_ops.hpp"

namespace labrig::plan {
namespace {

Dims batched(std::int64_t batch, const Dims& sample) {
  Dims sizes{batch};
  for (const std::int64_t size : sample) sizes.push_back(size);
  return sizes;
}

std::int64_t last_of(const Dims& sizes) { return sizes[sizes.count() - 1]; }

Dtype low_type(Precision precision) { return precision == Precision::bf16 ? kBF16 : kF16; }

}  // namespace

PaperTraining::PaperTraining(const Units& units, Loss loss, const Training& training, std::size_t capacity_bytes)
    : units_(units),
      loss_(loss),
      training_(training),
      card_(capacity_bytes),
      paper_(card_, low_type(training.precision), training.precision != Precision::f32),
      count_(units.rows.size()) {
  x_ = paper_.make(batched(training.batch, units.input), units.takes_ids ? kI64 : kF32, "input", Part::inputs);
  const Dims output = batched(training.batch, units.output);
  const bool classes = loss == Loss::cross_entropy;
  target_ = classes ? paper_.make({output.product() / last_of(output)}, kI64, "classes", Part::inputs)
                    : paper_.make(output, kF32, "targets", Part::inputs);
  for (const Unit& unit : units.units) layers_.push_back(made(unit));
}

// --- parameters ------------------------------------------------------------------------------------------------------

PaperParameter* PaperTraining::parameter(const Dims& sizes, std::size_t row) {
  count_[row] += sizes.product();
  PaperParameter& made = parameters_.emplace_back();
  made.value = paper_.make(sizes, kF32, "parameter", Part::parameters);
  return &made;
}

void PaperTraining::linear_parameters(PaperLayer& layer, std::int64_t in, std::int64_t out, bool bias) {
  layer.parameters.push_back(parameter({out, in}, layer.unit->row));
  layer.parameters.push_back(bias ? parameter({out}, layer.unit->row) : nullptr);
}

void PaperTraining::norm_parameters(PaperLayer& layer, std::int64_t width) {
  for (int i = 0; i < 2; ++i) layer.parameters.push_back(parameter({width}, layer.unit->row));
}

PaperLayer PaperTraining::made(const Unit& unit) {
  PaperLayer made{&unit, {}, {}, {}};
  const Layer& layer = unit.layer;
  const std::int64_t last = unit.in.count() > 0 ? last_of(unit.in) : 0;
  switch (layer.kind) {
    case Kind::linear:
      linear_parameters(made, last, layer.out, layer.bias);
      break;
    case Kind::conv2d:
      made.parameters = {parameter({layer.out, unit.in[0], layer.kernel, layer.kernel}, unit.row),
                         layer.bias ? parameter({layer.out}, unit.row) : nullptr};
      break;
    case Kind::layer_norm:
      norm_parameters(made, last);
      break;
    case Kind::batch_norm:
      norm_parameters(made, unit.in[0]);
      for (int i = 0; i < 2; ++i)
        made.buffers.push_back(paper_.make({unit.in[0]}, kF32, "running statistics", Part::parameters));
      made.buffers.push_back(paper_.make({}, kI64, "batches seen", Part::parameters));
      break;
    case Kind::embedding:
      made.parameters = {parameter({layer.entries, layer.out}, unit.row)};
      break;
    case Kind::attention:
      for (int i = 0; i < 4; ++i) linear_parameters(made, last, last, true);
      break;
    default:
      for (const Unit& inner : unit.inside) made.inside.push_back(this->made(inner));
  }
  return made;
}

// --- forward ---------------------------------------------------------------------------------------------------------

// A layer's input lives until its output is there, and longer where somebody keeps it.
PaperTensor PaperTraining::forward(const std::vector<PaperLayer>& layers, PaperTensor x) {
  for (const PaperLayer& layer : layers) x = forward(layer, x);
  return x;
}

PaperTensor PaperTraining::forward(const PaperLayer& layer, const PaperTensor& x) {
  using namespace paper;
  const Unit& unit = *layer.unit;
  const auto p = [&](std::size_t i) -> PaperParameter& { return *layer.parameters[i]; };
  card_.set_moment("forward of", unit.row);
  switch (unit.layer.kind) {
    case Kind::linear:
      return linear(paper_, x, p(0), layer.parameters[1]);
    case Kind::conv2d:
      return conv2d(paper_, x, p(0), layer.parameters[1], batched(training_.batch, unit.out));
    case Kind::layer_norm:
      return layer_norm(paper_, x, p(0), p(1));
    case Kind::batch_norm:
      return batch_norm(paper_, x, p(0), p(1));
    case Kind::embedding:
      return embedding(paper_, x, p(0));
    case Kind::attention:
      return attention(layer, x);
    case Kind::relu:
      return unit.layer.inplace ? relu_in_place(paper_, x) : each_element(paper_, x, Keeps::result);
    case Kind::gelu:
      return each_element(paper_, x, Keeps::input);
    case Kind::tanh:
    case Kind::sigmoid:
      return each_element(paper_, x, Keeps::result);
    case Kind::softmax:
      return softmax(paper_, x);
    case Kind::dropout:
      return unit.layer.p > 0 ? each_element(paper_, x, Keeps::nothing) : x;
    case Kind::flatten:
      return view(paper_, x, batched(training_.batch, unit.out));
    case Kind::mean_pool:
      return mean_pool(paper_, x, batched(training_.batch, unit.out));
    case Kind::residual:
      return residual(layer, x);
    case Kind::repeat:
    case Kind::transformer_block:
      break;  // no unit is of these kinds
  }
  return x;
}

PaperTensor PaperTraining::residual(const PaperLayer& layer, const PaperTensor& x) {
  const PaperTensor inner = forward(layer.inside, x);
  card_.set_moment("forward of", layer.unit->row);
  return paper::add(paper_, x, inner);
}

PaperTensor PaperTraining::attention(const PaperLayer& layer, const PaperTensor& x) {
  using namespace paper;
  const Layer& described = layer.unit->layer;
  const std::int64_t n = x.sizes[0], length = x.sizes[1], width = x.sizes[2], heads = described.heads;
  const Dims split{n * heads, length, width / heads}, square{n * heads, length, length};
  const auto projected = [&](std::size_t i, const PaperTensor& from) {
    return linear(paper_, from, *layer.parameters[2 * i], layer.parameters[2 * i + 1]);
  };
  const PaperTensor q = rearranged(paper_, projected(0, x), split), k = rearranged(paper_, projected(1, x), split),
                    v = rearranged(paper_, projected(2, x), split);
  PaperTensor weights = bmm(paper_, q, k, square);
  weights = each_element(paper_, weights, Keeps::nothing);  // divided by sqrt(width / heads)
  weights = softmax(paper_, weights);
  if (described.p > 0) weights = each_element(paper_, weights, Keeps::nothing);
  const PaperTensor context = bmm(paper_, weights, v, split);
  return projected(3, rearranged(paper_, context, x.sizes));
}

PaperTensor PaperTraining::loss() {
  paper_.enter_autocast();
  const PaperTensor y = forward(layers_, x_);
  card_.set_moment("forward of", units_.rows.size());
  PaperTensor loss;
  if (loss_ == Loss::cross_entropy)
    loss = paper::cross_entropy(
        paper_, paper::view(paper_, y, {y.sizes.product() / last_of(y.sizes), last_of(y.sizes)}), target_);
  else
    loss = paper::element_loss(paper_, y, target_);
  paper_.leave_autocast();
  return loss;
}

// --- a step ----------------------------------------------------------------------------------------------------------

void PaperTraining::step() {
  if (!training_.accumulates)
    for (PaperParameter& parameter : parameters_) parameter.gradient = {};
  PaperTensor loss = this->loss();
  if (training_.precision == Precision::f16) {
    if (!scale_.defined()) scale_ = paper_.make({2}, kF32, "scale of the loss", Part::optimizer);
    loss = paper::each_element(paper_, loss, paper::Keeps::nothing);
  }
  forward_done_ = card_.now();
  paper_.backward(loss);
  optimize();
}

void PaperTraining::optimize() {
  card_.set_moment("the optimizer's step", kNoRow);
  const std::size_t tensors = training_.optimizer == Optimizer::sgd            ? 0
                              : training_.optimizer == Optimizer::sgd_momentum ? 1
                                                                               : 2;
  for (PaperParameter& parameter : parameters_)
    while (parameter.state.size() < tensors)
      parameter.state.push_back(paper_.make(parameter.value.sizes, kF32, "state", Part::optimizer));
}

}  // namespace labrig::plan
