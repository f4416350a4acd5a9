// A plan as tables that can be checked with a pocket calculator.
#include <cstdio>

#include "plan_answer.hpp"
#include "units.hpp"

namespace labrig::app {
namespace {

double mib(std::size_t bytes) { return static_cast<double>(bytes) / 0x1p20; }

double percent(std::size_t bytes, std::size_t of) {
  return of == 0 ? 0 : 100 * static_cast<double>(bytes) / static_cast<double>(of);
}

std::string count(std::int64_t number) { return reports::count_text(static_cast<double>(number)); }

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

void print_parts(const PlanAnswer& answer) {
  std::printf("\n%-14s %12s %14s %7s  %s\n", "part", "at most MiB", "at the peak", "share", "how it comes about");
  for (std::size_t i = 0; i < plan::kParts; ++i) {
    if (answer.plan.bytes[i] == 0) continue;
    const auto part = static_cast<plan::Part>(i);
    std::string name = plan::name_of(part);
    std::printf("%-14s %12.2f %14.2f %5.1f %%  %s\n", name.c_str(), mib(answer.plan.bytes[i]),
                mib(answer.plan.at_peak[i]), percent(answer.plan.at_peak[i], answer.plan.peak_bytes),
                formula_of(answer, part).c_str());
  }
  std::printf("%-14s %12s %14.2f %5.1f %%  %s\n", "peak", "", mib(answer.plan.peak_bytes), 100.0,
              answer.plan.moment.c_str());
  if (answer.measured_peak_bytes)
    std::printf("%-14s %12s %14.2f %7s  two steps of the same model on a simulated card without values\n", "measured",
                "", mib(*answer.measured_peak_bytes), "");
}

void print_layers(const plan::Plan& plan) {
  if (plan.layers.empty()) return;
  std::printf("\n%-24s %5s %16s %14s %10s  %s\n", "layer", "times", "out, a sample", "parameters", "kept MiB",
              "kept for backward(), each time");
  for (const plan::LayerPlan& layer : plan.layers)
    std::printf("%-24s %5lld %16s %14s %10.2f  %s\n", layer.name.c_str(), static_cast<long long>(layer.times),
                sizes_text(layer.out).c_str(), count(layer.parameters).c_str(), mib(layer.kept_bytes),
                layer.kept.c_str());
}

void print_largest(const char* room, std::size_t bytes, const plan::LargestBatch& largest) {
  std::printf("  largest batch in %s, %.1f MiB: %s", room, mib(bytes), count(largest.batch).c_str());
  if (largest.by_bytes > largest.batch)
    std::printf("   (%s by the bytes of its tensors; the allocator is left with pieces that are too small)",
                count(largest.by_bytes).c_str());
  std::printf("\n");
}

void print_card(const PlanAnswer& answer) {
  if (!answer.card) return;
  const CardAnswer& card = *answer.card;
  std::printf("\ncard%s: %.1f MiB, of which the context takes %.1f and other processes %.1f; %.1f are left\n",
              (card.profile.empty() ? "" : " " + card.profile).c_str(), mib(card.capacity_bytes),
              mib(card.context_bytes), mib(card.other_processes_bytes), mib(card.available_bytes));
  const char* const verdict = !card.fits               ? "does not fit"
                              : card.fits_with_reserve ? "fits, with the reserve to spare"
                                                       : "fits, but takes from the reserve";
  std::printf("  a batch of %s %s: %.1f %% of what is left\n", count(answer.file.training.batch).c_str(), verdict,
              percent(answer.plan.peak_bytes, card.available_bytes));
  print_largest("all of it", card.available_bytes, card.largest);
  char room[64];
  std::snprintf(room, sizeof room, "what a reserve of %.0f %% leaves", 100 * card.reserve);
  print_largest(room, card.after_reserve_bytes, card.largest_with_reserve);
}

void print_alternatives(const PlanAnswer& answer) {
  if (answer.alternatives.empty()) return;
  std::printf("\nthe largest part of the peak: %s; with one thing changed the peak would be\n",
              plan::name_of(answer.largest_part));
  for (const Alternative& other : answer.alternatives)
    std::printf("  %10.2f MiB %+6.1f %%  %s\n", mib(other.peak_bytes),
                percent(other.peak_bytes, answer.plan.peak_bytes) - 100, other.change.c_str());
}

}  // namespace

void print_plan(const PlanAnswer& answer) {
  const plan::Training& training = answer.file.training;
  std::printf("%s: %s parameters; a batch of %s%s, %s, %s\n", answer.file.model.name.c_str(),
              count(answer.plan.parameters).c_str(), count(training.batch).c_str(),
              training.accumulates ? " of several that are added up" : "", plan::name_of(training.optimizer),
              training.precision == plan::Precision::f32
                  ? "f32"
                  : (std::string("autocast to ") + plan::name_of(training.precision)).c_str());
  std::printf("whatever the batch: parameters, gradients and optimizer state of %s take %.2f MiB (%.2f MB)\n",
              count(answer.plan.parameters).c_str(), mib(answer.plan.fixed_bytes),
              static_cast<double>(answer.plan.fixed_bytes) / 1e6);
  print_parts(answer);
  print_layers(answer.plan);
  print_card(answer);
  print_alternatives(answer);
}

}  // namespace labrig::app
