// What is read off the paper: who held what at the peak, and the largest batch that the card does not refuse.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "labrig/error.hpp"
#include "labrig/memory.hpp"
#include "plan/paper_model.hpp"

namespace labrig::plan {
namespace {

constexpr std::size_t kAnyCapacity = std::size_t{1} << 56;  // more than a tensor may have (paper.cpp), many times
constexpr std::int64_t kLargestBatch = std::int64_t{1} << 31;

// What nothing keeps is temporary, also when it was made in the forward pass.
std::size_t part_of(const PaperEntry& entry) {
  return static_cast<std::size_t>(entry.part == Part::activations && !entry.kept ? Part::temporary : entry.part);
}

// What each part held at that moment of the card.
Bytes held_at(const PaperCard& card, std::size_t moment) {
  Bytes bytes{};
  for (const PaperEntry& entry : card.entries())
    if (entry.from <= moment && moment < entry.to) bytes[part_of(entry)] += entry.bytes;
  return bytes;
}

// The most that each part ever held.
Bytes most_held(const PaperCard& card) {
  struct Change {
    std::size_t at, part;
    std::int64_t bytes;
  };
  std::vector<Change> changes;
  for (const PaperEntry& entry : card.entries()) {
    const auto bytes = static_cast<std::int64_t>(entry.bytes);
    changes.push_back({entry.from, part_of(entry), bytes});
    if (entry.to != SIZE_MAX) changes.push_back({entry.to, part_of(entry), -bytes});
  }
  std::ranges::sort(changes, {}, &Change::at);
  Bytes most{};
  std::array<std::int64_t, kParts> now{};
  for (const Change& change : changes) {
    now[change.part] += change.bytes;
    most[change.part] = std::max(most[change.part], static_cast<std::size_t>(now[change.part]));
  }
  return most;
}

// "output 256 x 1024 x 4 B"
std::string text_of(const PaperEntry& entry) {
  std::string text = entry.what;
  for (const std::int64_t size : entry.sizes) text += (text.ends_with(entry.what) ? " " : " x ") + std::to_string(size);
  return text + " x " + std::to_string(element_bytes(entry.dtype)) + " B";
}

// What each layer made that was still there when the forward pass was done. A layer that is repeated is described once.
void read_layers(const PaperCard& card, std::size_t forward_done, std::vector<LayerPlan>& rows) {
  for (const PaperEntry& entry : card.entries()) {
    const bool held = entry.from <= forward_done && forward_done < entry.to;
    if (!held || entry.part != Part::activations || !entry.kept || entry.row >= rows.size()) continue;
    LayerPlan& row = rows[entry.row];
    row.kept_bytes += entry.bytes;
    const std::string text = text_of(entry);
    if (row.kept.find(text) == std::string::npos) row.kept += (row.kept.empty() ? "" : ", ") + text;
  }
}

std::string moment_of(const PaperCard& card, const std::vector<LayerPlan>& rows) {
  std::string text = card.peak_doing();
  if (card.peak_row() < rows.size()) text += " " + rows[card.peak_row()].name;
  return text;
}

Plan plan_layers(const Model& model, const Training& training) {
  const Units units = units_of(model);
  PaperTraining run(units, model.loss, training, kAnyCapacity);
  run.step();
  run.step();  // the first in which the optimizer has its state from the start
  const PaperCard& card = run.card();
  Plan plan;
  plan.layers = units.rows;
  for (std::size_t row = 0; row < plan.layers.size(); ++row) plan.layers[row].parameters = run.parameters()[row];
  plan.layers.emplace_back().name = "loss";  // its row is the one after the layers
  plan.parameters = std::accumulate(run.parameters().begin(), run.parameters().end(), std::int64_t{0});
  plan.bytes = most_held(card);
  plan.at_peak = held_at(card, card.peak_at());
  plan.peak_bytes = card.peak_bytes();
  plan.reserved_bytes = card.reserved_peak_bytes();
  plan.moment = moment_of(card, plan.layers);
  read_layers(card, run.forward_done(), plan.layers);
  return plan;
}

// --- from totals -----------------------------------------------------------------------------------------------------

std::size_t whole(double bytes) {
  if (bytes < 0x1p60) return static_cast<std::size_t>(std::llround(bytes));
  throw Error("bad-model", "the totals are larger than any card", "together they come to more than 2^60 bytes",
              "check the totals and the batch");
}

// Of one parameter: itself, its gradient, what the optimizer remembers.
double fixed_bytes_each(Optimizer optimizer) {
  constexpr std::array<double, 4> kState = {0, 4, 8, 8};
  return 8 + kState[static_cast<std::size_t>(optimizer)];
}

// Everything at once: more than a step needs, since gradients come while activations go.
Plan plan_totals(const Totals& totals, const Training& training) {
  const auto batch = static_cast<double>(training.batch);
  Plan plan;
  plan.parameters = static_cast<std::int64_t>(whole(totals.parameters));
  const auto set = [&](Part part, double bytes) { plan.bytes[static_cast<std::size_t>(part)] = whole(bytes); };
  set(Part::parameters, totals.parameters * 4);
  set(Part::gradients, totals.parameters * 4);
  set(Part::optimizer, totals.parameters * (fixed_bytes_each(training.optimizer) - 8));
  if (training.precision != Precision::f32) set(Part::weight_copies, totals.parameters * 2);
  set(Part::activations, totals.activation_bytes_per_sample * batch);
  set(Part::temporary, totals.temporary_bytes_per_sample * batch);
  plan.at_peak = plan.bytes;
  plan.peak_bytes = std::accumulate(plan.bytes.begin(), plan.bytes.end(), std::size_t{0});
  plan.moment = "everything at once";
  return plan;
}

// --- fitting ---------------------------------------------------------------------------------------------------------

// The peak alone; -1 where the card refuses what a run asks for: by the allocator's own rules, so that segments and
// what is left over in them count.
std::int64_t peak_within(const Model& model, const Units& units, const Training& training, std::size_t bytes) {
  try {
    PaperTraining run(units, model.loss, training, bytes);
    run.step();
    run.step();
    return static_cast<std::int64_t>(run.card().peak_bytes());
  } catch (const OutOfMemoryError&) {
    return -1;
  }
}

// The largest number from `low`, which fits, to below `high`, which does not.
template <class Fits>
std::int64_t bisected(std::int64_t low, std::int64_t high, const Fits& fits) {
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// By the bytes of tensors alone, which grow with the batch.
template <class Fits>
std::int64_t largest_by_bytes(const Fits& fits) {
  if (!fits(1)) return 0;
  std::int64_t high = 2;
  while (high <= kLargestBatch && fits(high)) high *= 2;
  return high > kLargestBatch ? kLargestBatch : bisected(high / 2, high, fits);
}

void check_batch(const Training& training) {
  if (training.batch >= 1 && training.batch <= kLargestBatch) return;
  throw Error("bad-model", "a batch of " + std::to_string(training.batch) + " samples cannot be planned",
              "a batch has 1 to 2^31 samples", "give a positive batch");
}

}  // namespace

Plan make_plan(const Model& model, const Training& training) {
  check_batch(training);
  Plan plan = model.totals ? plan_totals(*model.totals, training) : plan_layers(model, training);
  plan.fixed_bytes = whole(static_cast<double>(plan.parameters) * fixed_bytes_each(training.optimizer));
  return plan;
}

bool fits(const Model& model, const Training& training, std::size_t bytes) {
  check_batch(training);
  if (model.totals) return plan_totals(*model.totals, training).peak_bytes <= bytes;
  return peak_within(model, units_of(model), training, bytes) >= 0;
}

LargestBatch largest_batch(const Model& model, const Training& training, std::size_t bytes) {
  const Units units = model.totals ? Units{} : units_of(model);
  const auto with = [&](std::int64_t batch) {
    Training other = training;
    other.batch = batch;
    return other;
  };
  const auto needs_at_most = [&](std::int64_t batch) {
    if (model.totals) return plan_totals(*model.totals, with(batch)).peak_bytes <= bytes;
    const std::int64_t peak = peak_within(model, units, with(batch), kAnyCapacity);
    return peak >= 0 && peak <= static_cast<std::int64_t>(bytes);
  };
  const auto trains = [&](std::int64_t batch) { return peak_within(model, units, with(batch), bytes) >= 0; };
  const std::int64_t most = largest_by_bytes(needs_at_most);
  if (model.totals || most == 0 || trains(most)) return {most, most};
  // Sizes of tensors change with the batch, and so does how well they fill the segments: 300 may train where 299 does
  // not. So the first step down is of many.
  std::int64_t refused = most, step = std::max<std::int64_t>(1, most / 64), batch = most - step;
  while (batch > 0 && !trains(batch)) refused = batch, batch -= step;
  return {bisected(std::max<std::int64_t>(batch, 0), refused, trains), most};
}

}  // namespace labrig::plan
