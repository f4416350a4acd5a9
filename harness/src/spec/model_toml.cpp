// What stands in a model description, table by table.
#include "spec/model_toml.hpp"

#include <fmt/format.h>

#include <cmath>

#include "spec/toml_reader.hpp"
#include "store/digest.hpp"

namespace labrig::spec {
namespace {

using plan::Kind;
using plan::Layer;

constexpr double kMiB = 0x1p20, kGiB = 0x1p30, kMostBytes = 0x1p50;

// "residual" and "repeat" hold `layers`, in a list of tables.
const std::vector<std::pair<std::string, Kind>> kKinds = {{"linear", Kind::linear},
                                                          {"conv2d", Kind::conv2d},
                                                          {"layer_norm", Kind::layer_norm},
                                                          {"batch_norm", Kind::batch_norm},
                                                          {"embedding", Kind::embedding},
                                                          {"attention", Kind::attention},
                                                          {"relu", Kind::relu},
                                                          {"gelu", Kind::gelu},
                                                          {"tanh", Kind::tanh},
                                                          {"sigmoid", Kind::sigmoid},
                                                          {"softmax", Kind::softmax},
                                                          {"dropout", Kind::dropout},
                                                          {"flatten", Kind::flatten},
                                                          {"mean_pool", Kind::mean_pool},
                                                          {"residual", Kind::residual},
                                                          {"repeat", Kind::repeat},
                                                          {"transformer_block", Kind::transformer_block}};

double not_negative(TomlReader& reader, const std::string& key, double otherwise) {
  const double value = reader.number(key, otherwise);
  if (value < 0) reader.wrong(key, "a number of at least 0", fmt::format("{}", value));
  return value;
}

// `unit`: bytes in one of what is given.
std::size_t bytes_of(TomlReader& reader, const std::string& key, double unit) {
  const double bytes = not_negative(reader, key, 0) * unit;
  if (bytes > kMostBytes) reader.wrong(key, "less memory than any card has", fmt::format("{:g} bytes", bytes));
  return static_cast<std::size_t>(std::llround(bytes));
}

double probability(TomlReader& reader) {
  const double p = reader.number("p", 0);
  if (p < 0 || p >= 1) reader.wrong("p", "a probability from 0 to below 1", fmt::format("{}", p));
  return p;
}

// 2^20 layers are more than any model has; each is written out.
std::int64_t times(TomlReader& reader) {
  const std::int64_t value = reader.positive("times");
  if (value > 10'000) reader.wrong("times", "at most 10000 repetitions", fmt::format("{}", value));
  return value;
}

std::vector<Layer> read_layers(std::vector<TomlReader> readers);

void read_convolution(TomlReader& reader, Layer& layer) {
  layer.out = reader.positive("out");
  layer.kernel = reader.positive("kernel");
  layer.stride = reader.positive("stride", 1);
  layer.padding = reader.has("padding") ? reader.integer("padding") : 0;
  if (layer.padding < 0) reader.wrong("padding", "an integer of at least 0", fmt::format("{}", layer.padding));
  layer.bias = reader.boolean("bias", true);
}

// The keys of its kind.
void read_keys(TomlReader& reader, Layer& layer) {
  switch (layer.kind) {
    case Kind::linear:
      layer.out = reader.positive("out");
      layer.bias = reader.boolean("bias", true);
      break;
    case Kind::conv2d:
      read_convolution(reader, layer);
      break;
    case Kind::embedding:
      layer.entries = reader.positive("entries");
      layer.out = reader.positive("out");
      break;
    case Kind::transformer_block:
      layer.hidden = reader.positive("hidden", 0);
      [[fallthrough]];
    case Kind::attention:
      layer.heads = reader.positive("heads");
      [[fallthrough]];
    case Kind::dropout:
      layer.p = probability(reader);
      break;
    case Kind::relu:
      layer.inplace = reader.boolean("inplace", false);
      break;
    case Kind::repeat:
      layer.times = times(reader);
      [[fallthrough]];
    case Kind::residual:
      layer.layers = read_layers(reader.tables("layers"));
      break;
    default:
      break;
  }
}

std::vector<Layer> read_layers(std::vector<TomlReader> readers) {
  std::vector<Layer> layers;
  for (TomlReader& reader : readers) {
    Layer& layer = layers.emplace_back();
    layer.place = reader.where();
    layer.kind = reader.word<Kind>("kind", kKinds, std::nullopt);
    read_keys(reader, layer);
    reader.finish();
  }
  return layers;
}

plan::Totals read_totals(TomlReader& reader) {
  plan::Totals totals;
  totals.parameters = not_negative(reader, "parameters", 0);
  totals.activation_bytes_per_sample = not_negative(reader, "activation_bytes_per_sample", 0);
  totals.temporary_bytes_per_sample = not_negative(reader, "temporary_bytes_per_sample", 0);
  return totals;
}

plan::Model read_model(TomlReader& top) {
  TomlReader reader = top.top_table("model");
  plan::Model model;
  model.name = reader.text("name", "model");
  if (reader.has("parameters")) {
    model.totals = read_totals(reader);
    reader.finish();
    return model;
  }
  model.input = reader.positives("input");
  model.loss = reader.word<plan::Loss>("loss",
                                       {{"cross_entropy", plan::Loss::cross_entropy},
                                        {"mse", plan::Loss::mse},
                                        {"bce_with_logits", plan::Loss::bce_with_logits}},
                                       plan::Loss::cross_entropy);
  reader.finish();
  model.layers = read_layers(top.tables("layer"));
  return model;
}

plan::Training read_training(TomlReader reader) {
  plan::Training training;
  training.batch = reader.positive("batch");
  training.optimizer = reader.word<plan::Optimizer>("optimizer",
                                                    {{"sgd", plan::Optimizer::sgd},
                                                     {"sgd_momentum", plan::Optimizer::sgd_momentum},
                                                     {"adam", plan::Optimizer::adam},
                                                     {"adamw", plan::Optimizer::adamw}},
                                                    plan::Optimizer::adam);
  training.precision = reader.word<plan::Precision>(
      "precision", {{"f32", plan::Precision::f32}, {"f16", plan::Precision::f16}, {"bf16", plan::Precision::bf16}},
      plan::Precision::f32);
  training.accumulates = reader.boolean("accumulates", false);
  reader.finish();
  return training;
}

PlannedCard read_card(TomlReader reader) {
  PlannedCard card;
  if (reader.has("profile") == reader.has("capacity_gib"))
    reader.wrong(reader.has("profile") ? "profile" : "capacity_gib", "one of profile and capacity_gib",
                 reader.has("profile") ? "both" : "neither");
  card.profile = reader.text("profile", "");
  card.capacity_bytes = bytes_of(reader, "capacity_gib", kGiB);
  card.context_bytes = bytes_of(reader, "context_mib", kMiB);
  card.other_processes_bytes = bytes_of(reader, "other_processes_mib", kMiB);
  card.reserve = reader.number("reserve", card.reserve);
  if (card.reserve < 0 || card.reserve >= 1)
    reader.wrong("reserve", "a part from 0 to below 1", fmt::format("{}", card.reserve));
  reader.finish();
  return card;
}

}  // namespace

Result<ModelFile> parse_model(std::string_view text, const std::string& file) {
  try {
    Positions positions(file, "bad-model");
    const TomlDocument document(text, file);
    TomlReader top = document.top("the description", positions);
    ModelFile read;
    read.model = read_model(top);
    read.training = read_training(top.top_table("training"));
    if (top.has("card")) read.card = read_card(top.top_table("card"));
    top.finish();
    return read;
  } catch (const Error& error) {
    return error;
  }
}

Result<ModelFile> load_model(const std::filesystem::path& file) {
  const Result<std::string> text = store::read_file(file);
  if (!text) return text.error();
  return parse_model(text.value(), file.string());
}

}  // namespace labrig::spec
