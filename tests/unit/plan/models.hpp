// Small models of the three families that a plan is held against.
#pragma once

#include <string>
#include <vector>

#include "labrig/plan.hpp"

namespace labrig::plan::test {

inline Layer layer(Kind kind, std::int64_t out = 0) {
  Layer made;
  made.kind = kind, made.out = out;
  return made;
}
inline Layer holding(Kind kind, std::vector<Layer> layers, std::int64_t times = 1) {
  Layer made = layer(kind);
  made.layers = std::move(layers), made.times = times;
  return made;
}
inline Layer convolution(std::int64_t out, std::int64_t stride) {
  Layer made = layer(Kind::conv2d, out);
  made.kernel = 3, made.stride = stride, made.padding = 1;
  return made;
}
inline Layer block(std::int64_t heads, double p) {
  Layer made = layer(Kind::transformer_block);
  made.heads = heads, made.p = p;
  return made;
}

inline Model mlp(std::int64_t width, std::int64_t depth, Kind function, Loss loss) {
  Model model;
  model.name = "mlp of " + std::to_string(width) + " x " + std::to_string(depth);
  model.input = {width};
  model.layers = {holding(Kind::repeat, {layer(Kind::linear, width), layer(function)}, depth), layer(Kind::linear, 10)};
  model.loss = loss;
  return model;
}

// Residuals, batch_norm, a pool; or plain convolutions, flattened.
inline Model cnn(std::int64_t channels, std::int64_t depth, bool residual) {
  Model model;
  model.name = (residual ? "residual cnn of " : "plain cnn of ") + std::to_string(channels);
  model.input = {3, 32, 32};
  model.layers = {convolution(channels, 1), layer(Kind::relu)};
  const std::vector<Layer> unit = {convolution(channels, 1), layer(Kind::batch_norm), layer(Kind::relu)};
  if (residual) {
    model.layers.push_back(holding(Kind::repeat, {holding(Kind::residual, unit)}, depth));
    model.layers.push_back(layer(Kind::mean_pool));
  } else {
    for (std::int64_t i = 0; i < depth; ++i) model.layers.push_back(convolution(channels, 2));
    model.layers.push_back(layer(Kind::flatten));
    Layer dropout = layer(Kind::dropout);
    dropout.p = 0.5;
    model.layers.push_back(dropout);
  }
  model.layers.push_back(layer(Kind::linear, 10));
  return model;
}

inline Model decoder(std::int64_t width, std::int64_t depth, std::int64_t length, double p) {
  Model model;
  model.name = "decoder of " + std::to_string(width) + " x " + std::to_string(depth);
  model.input = {length};
  Layer embedding = layer(Kind::embedding, width);
  embedding.entries = 1000;
  model.layers = {embedding, holding(Kind::repeat, {block(4, p)}, depth), layer(Kind::layer_norm),
                  layer(Kind::linear, 1000)};
  return model;
}

inline Model encoder(std::int64_t width, std::int64_t depth, std::int64_t length) {
  Model model;
  model.name = "encoder of " + std::to_string(width) + " x " + std::to_string(depth);
  model.input = {length, width};
  model.layers = {holding(Kind::repeat, {block(8, 0)}, depth), layer(Kind::mean_pool), layer(Kind::linear, 10)};
  return model;
}

}  // namespace labrig::plan::test
