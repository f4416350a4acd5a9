// The arithmetic around a plan: what a card has room for, and what other choices would take.
#include "plan_answer.hpp"

#include <algorithm>
#include <cmath>

#include "backends/sim/profile.hpp"
#include "labrig/error.hpp"
#include "units.hpp"

namespace labrig::app {
namespace {

using Json = nlohmann::ordered_json;
using plan::Optimizer;
using plan::Part;
using plan::Precision;

std::size_t without(std::size_t bytes, std::size_t taken) { return bytes - std::min(bytes, taken); }

CardAnswer answer_card(const spec::ModelFile& file) {
  const spec::PlannedCard& asked = *file.card;
  CardAnswer card;
  card.profile = asked.profile;
  card.capacity_bytes = asked.capacity_bytes;
  card.context_bytes = asked.context_bytes;
  card.other_processes_bytes = asked.other_processes_bytes;
  if (!asked.profile.empty()) {
    const sim::Profile profile = sim::load_profile(asked.profile).value();
    card.capacity_bytes = profile.capacity_bytes;
    card.other_processes_bytes += profile.other_processes_bytes;
  }
  card.available_bytes = without(card.capacity_bytes, card.context_bytes + card.other_processes_bytes);
  card.reserve = asked.reserve;
  card.after_reserve_bytes =
      static_cast<std::size_t>(std::llround(static_cast<double>(card.available_bytes) * (1 - card.reserve)));
  card.largest = plan::largest_batch(file.model, file.training, card.available_bytes);
  card.largest_with_reserve = plan::largest_batch(file.model, file.training, card.after_reserve_bytes);
  card.fits = plan::fits(file.model, file.training, card.available_bytes);
  card.fits_with_reserve = plan::fits(file.model, file.training, card.after_reserve_bytes);
  return card;
}

Part largest_part(const plan::Plan& plan) {
  return static_cast<Part>(std::ranges::max_element(plan.at_peak) - plan.at_peak.begin());
}

std::vector<Alternative> alternatives_of(const spec::ModelFile& file) {
  std::vector<Alternative> found;
  const auto try_with = [&](std::string change, plan::Training training) {
    found.push_back({std::move(change), plan::make_plan(file.model, training).peak_bytes});
  };
  plan::Training other = file.training;
  if (other.batch > 1) {
    other.batch = (other.batch + 1) / 2, other.accumulates = true;
    try_with("half the batch, gradients added up over two", other);
    other = file.training;
  }
  if (other.precision == Precision::f32 && !file.model.totals) {
    other.precision = Precision::bf16;
    try_with("an autocast region in 16 bits", other);
    other = file.training;
  }
  if (other.optimizer == Optimizer::adam || other.optimizer == Optimizer::adamw) {
    other.optimizer = Optimizer::sgd_momentum;
    try_with("SGD with momentum", other);
  }
  if (other.optimizer != Optimizer::sgd) {
    other.optimizer = Optimizer::sgd;
    try_with("SGD without momentum", other);
  }
  std::ranges::stable_sort(found, {}, &Alternative::peak_bytes);
  return found;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

Json layers_json(const plan::Plan& plan) {
  Json layers = Json::array();
  for (const plan::LayerPlan& layer : plan.layers)
    layers.push_back({{"name", layer.name},
                      {"times", layer.times},
                      {"out", layer.out},
                      {"parameters", layer.parameters},
                      {"kept_bytes", layer.kept_bytes},
                      {"kept", layer.kept}});
  return layers;
}

Json parts_json(const PlanAnswer& answer) {
  Json parts = Json::array();
  for (std::size_t i = 0; i < plan::kParts; ++i) {
    const auto part = static_cast<Part>(i);
    const auto peak = static_cast<double>(answer.plan.peak_bytes);
    parts.push_back({{"part", plan::name_of(part)},
                     {"bytes", answer.plan.bytes[i]},
                     {"at_peak_bytes", answer.plan.at_peak[i]},
                     {"share", peak == 0 ? 0 : static_cast<double>(answer.plan.at_peak[i]) / peak},
                     {"formula", formula_of(answer, part)}});
  }
  return parts;
}

Json batch_json(const plan::LargestBatch& largest) {
  return {{"batch", largest.batch}, {"by_bytes", largest.by_bytes}};
}

Json card_json(const CardAnswer& card) {
  return {{"profile", card.profile.empty() ? Json() : Json(card.profile)},
          {"capacity_bytes", card.capacity_bytes},
          {"context_bytes", card.context_bytes},
          {"other_processes_bytes", card.other_processes_bytes},
          {"available_bytes", card.available_bytes},
          {"reserve", card.reserve},
          {"after_reserve_bytes", card.after_reserve_bytes},
          {"fits", card.fits},
          {"fits_with_reserve", card.fits_with_reserve},
          {"largest_batch", batch_json(card.largest)},
          {"largest_batch_with_reserve", batch_json(card.largest_with_reserve)}};
}

}  // namespace

std::string formula_of(const PlanAnswer& answer, Part part) {
  const std::string parameters = reports::count_text(static_cast<double>(answer.plan.parameters));
  const std::string batch = reports::count_text(static_cast<double>(answer.file.training.batch));
  switch (part) {
    case Part::parameters:
      return parameters + " x 4 B";
    case Part::gradients:
      return parameters + " x 4 B, as large as what they belong to";
    case Part::optimizer:
      if (answer.file.training.optimizer == Optimizer::sgd) return "SGD without momentum remembers nothing";
      if (answer.file.training.optimizer == Optimizer::sgd_momentum) return parameters + " x 4 B: momentum";
      return "2 x " + parameters + " x 4 B: exp_avg and exp_avg_sq";
    case Part::inputs:
      return "the batch and its targets: " + batch + " samples";
    case Part::weight_copies:
      return answer.file.training.precision == Precision::f32 ? "no autocast region, no copies"
                                                              : parameters + " x 2 B where a product uses them";
    case Part::activations:
      if (const auto& totals = answer.file.model.totals)
        return batch + " x " + reports::count_text(totals->activation_bytes_per_sample) + " B a sample";
      return batch + " x what a sample leaves for backward(): see the layers";
    case Part::temporary:
      return "results that nothing keeps, and gradients on their way back";
  }
  return {};
}

PlanAnswer answer_plan(const spec::ModelFile& file, bool measure) {
  PlanAnswer answer;
  answer.file = file;
  answer.plan = plan::make_plan(file.model, file.training);
  answer.largest_part = largest_part(answer.plan);
  if (file.card) answer.card = answer_card(file);
  answer.alternatives = alternatives_of(file);
  if (measure) answer.measured_peak_bytes = plan::measured_peak_bytes(file.model, file.training);
  return answer;
}

Json to_json(const PlanAnswer& answer) {
  const plan::Training& training = answer.file.training;
  Json json = {{"schema", "labrig.plan/1"},
               {"model", answer.file.model.name},
               {"batch", training.batch},
               {"optimizer", plan::name_of(training.optimizer)},
               {"precision", plan::name_of(training.precision)},
               {"accumulates", training.accumulates},
               {"parameters", answer.plan.parameters},
               {"fixed_bytes", answer.plan.fixed_bytes},
               {"peak_bytes", answer.plan.peak_bytes},
               {"reserved_bytes", answer.plan.reserved_bytes},
               {"moment", answer.plan.moment},
               {"parts", parts_json(answer)},
               {"largest_part", plan::name_of(answer.largest_part)},
               {"layers", layers_json(answer.plan)},
               {"card", answer.card ? card_json(*answer.card) : Json()},
               {"alternatives", Json::array()},
               {"measured_peak_bytes", answer.measured_peak_bytes ? Json(*answer.measured_peak_bytes) : Json()}};
  for (const Alternative& other : answer.alternatives)
    json["alternatives"].push_back({{"change", other.change}, {"peak_bytes", other.peak_bytes}});
  return json;
}

}  // namespace labrig::app
