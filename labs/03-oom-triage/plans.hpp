// The plans of the faulty loops: which fault a loop has, how large everything is, how long it runs. Each cause is
// decidable by a written criterion, which stands at its case and in the handout; sizes are drawn so that the criterion
// holds with room to spare. Read next: faulty_loops.hpp (the loop that runs a plan).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "labrig/history.hpp"
#include "labrig/lab.hpp"

namespace oom_triage {

inline constexpr int kCauses = 9;  // of labrig::MemoryCause, healthy the first
inline constexpr std::int64_t kMiB = 1 << 20;

// One run. Rows of a batch are `width` floats wide, and so is every layer.
struct LoopPlan {
  enum class Keep : std::uint8_t { nothing, retained_losses, watched_losses, outputs, predictions };

  std::int64_t width = 256, depth = 5;
  bool adam = false;
  std::vector<std::int64_t> batches;  // rows of each training step
  std::int64_t eval_every = 5, eval_passes = 2, eval_rows = 0;
  std::int64_t capacity_mib = 512;
  std::int64_t context_mib = 0, others_mib = 0;  // of the driver, of other processes
  double later_ms = 0;                           // from then on others hold `later_mib`
  std::optional<std::int64_t> later_mib;

  // The faults.
  bool eval_with_grad = false;
  Keep keep = Keep::nothing;
  std::int64_t bank = 0;         // so many first steps leave an activation each on the card, on purpose
  std::int64_t pairs_from = -1;  // from this step on, `pairs_rows` outputs are compared, each with each
  std::int64_t pairs_rows = 0;
  bool resumes = false, keeps_checkpoint = false;
};

class Planner {
 public:
  Planner(labrig::MemoryCause cause, std::uint64_t seed) : random_(seed, static_cast<std::uint64_t>(cause)) {
    plan_.depth = random_.integer(4, 6);
    plan_.adam = coin();
    plan_.context_mib = 2 * random_.integer(0, 4);
    plan_.eval_every = random_.integer(4, 6);
    draw(cause);
    if (cause != labrig::MemoryCause::other_process)
      plan_.others_mib = even(static_cast<double>(plan_.capacity_mib) * random_.uniform(0, 0.03));  // somebody's window
    plan_.capacity_mib += plan_.context_mib + plan_.others_mib;
  }
  const LoopPlan& plan() const { return plan_; }

 private:
  using Keep = LoopPlan::Keep;

  bool coin() { return random_.integer(0, 1) == 1; }
  static std::int64_t even(double mib) { return static_cast<std::int64_t>(mib / 2) * 2; }
  std::int64_t rows(double mib) const { return static_cast<std::int64_t>(mib * kMiB) / (plan_.width * 4); }
  // Activations of 12 MiB and more have a segment each, and segments are multiples of 2 MiB: nothing is left over.
  std::int64_t activation() { return 2 * random_.integer(6, 10); }
  void steps(std::int64_t count, double mib) {
    plan_.batches.assign(static_cast<std::size_t>(count), rows(mib));
    plan_.eval_rows = rows(mib);
  }
  // What a step holds at most: input, target, an activation a layer, and two more on the way there and back.
  double step_mib(double activation_mib) const { return static_cast<double>(plan_.depth + 4) * activation_mib; }
  // Parameters, gradients, optimizer, and what is left over in small segments.
  static constexpr double kRestMib = 16;

  void draw(labrig::MemoryCause cause) {
    switch (cause) {
      case labrig::MemoryCause::healthy:
        return healthy();
      case labrig::MemoryCause::other_process:
        return other_process();
      case labrig::MemoryCause::eval_without_no_grad:
        return eval_without_no_grad();
      case labrig::MemoryCause::losses_keep_graph:
        return leak(coin() ? Keep::retained_losses : Keep::watched_losses);
      case labrig::MemoryCause::outputs_kept:
        return leak(coin() ? Keep::outputs : Keep::predictions);
      case labrig::MemoryCause::batch_too_big:
        return batch_too_big();
      case labrig::MemoryCause::fragmentation:
        return fragmentation();
      case labrig::MemoryCause::operator_spike:
        return operator_spike();
      case labrig::MemoryCause::resume_loads_state:
        return resume_loads_state();
    }
  }

  // Nothing fails and nothing climbs. A long first batch leaves far more reserved than is ever allocated again.
  void healthy() {
    const auto mib = static_cast<double>(activation());
    if (random_.integer(0, 3) == 0) {
      resume(mib);
      plan_.capacity_mib = even(parameters_mib() * 6 + step_mib(mib) * random_.uniform(1.4, 2.5));
    } else {
      steps(random_.integer(14, 18), mib);
      for (std::size_t i = 1; i < plan_.batches.size(); ++i) plan_.batches[i] /= random_.integer(3, 5);
      plan_.bank = random_.integer(0, 3);
      plan_.capacity_mib = even((step_mib(mib) + kRestMib) * random_.uniform(1.2, 2.5));
    }
    plan_.eval_rows = std::ranges::min(plan_.batches);
  }

  // free + reserved + context stay far below the total, and with what is missing the request would have been served.
  void other_process() {
    const double mib = 2 * static_cast<double>(activation());
    const double need = step_mib(mib) + kRestMib;
    steps(random_.integer(8, 12), mib / 2);
    plan_.batches.back() = rows(mib);
    const double spare = need * random_.uniform(0.15, 0.5);
    plan_.capacity_mib = even(need + spare);
    const std::int64_t others = even(spare + need * random_.uniform(0.34, 0.42));
    if (coin()) {
      plan_.others_mib = 0;
      plan_.later_ms = random_.uniform(0.3, 0.9);  // of the host, which runs ahead of the card
      plan_.later_mib = others;
    } else {
      plan_.others_mib = others;
      plan_.capacity_mib -= others;  // it is added again
    }
  }

  // In evaluation more is allocated than at any training step, and it does not climb.
  void eval_without_no_grad() {
    const auto mib = static_cast<double>(activation());
    const double eval_mib = mib * random_.uniform(1, 1.5);
    const bool fails = coin();  // in the second pass, while the graph of the first is still there
    plan_.eval_with_grad = true;
    steps(random_.integer(9, 14), mib);
    plan_.eval_rows = rows(eval_mib);
    const double graph = (static_cast<double>(plan_.depth) + 2) * eval_mib;
    const double need = std::max(step_mib(mib), step_mib(eval_mib));
    plan_.capacity_mib = even(kRestMib + (fails ? need + graph * random_.uniform(0.15, 0.55) : need + graph * 1.3));
  }

  // From one training step to another ten steps later, allocated has climbed, without a step back. Kept losses keep
  // what several operators made for their graph; kept outputs are of one operator.
  void leak(Keep keep) {
    plan_.keep = keep;
    const bool losses = keep == Keep::retained_losses || keep == Keep::watched_losses;
    // Small, so that it lasts: so many fill a segment of 2 MiB.
    const double mib =
        2 / static_cast<double>(losses ? random_.integer(2, 5) : random_.integer(2, 3)) * random_.uniform(0.97, 1);
    const std::int64_t count = random_.integer(17, 22);
    steps(count, mib);
    plan_.eval_passes = keep == Keep::predictions ? 3 : 2;
    const double graph = static_cast<double>(plan_.depth + 2) * mib;
    const double passes = static_cast<double>(plan_.eval_passes) / static_cast<double>(plan_.eval_every);
    const double a_step = losses ? graph : keep == Keep::predictions ? mib * passes : mib;
    const bool fails = coin();
    const double need = step_mib(mib) + a_step * (fails ? random_.uniform(14, 15.5) : static_cast<double>(count) * 2);
    plan_.capacity_mib = even(need * 1.05 + static_cast<double>(plan_.depth * (plan_.adam ? 4 : 3)) / 4 + 2);
  }

  // The request that fails is one of many of its size, nothing had climbed, and less than it is free in all.
  void batch_too_big() {
    const auto mib = static_cast<double>(activation());
    const double need = step_mib(mib) + kRestMib;
    if (coin()) {  // from the start
      steps(6, mib);
      plan_.capacity_mib = even(need * random_.uniform(0.5, 0.8));
    } else {  // when somebody doubles it
      steps(random_.integer(4, 9), mib);
      plan_.batches.back() *= 2;
      plan_.capacity_mib = even(2 * need * random_.uniform(0.65, 0.8));
    }
  }

  // What the cache holds unused would be enough for the request, but its largest block is smaller. A first long batch
  // leaves large segments behind, short ones put long-lived pieces into them, and the next long one finds no place.
  void fragmentation() {
    const std::int64_t short_mib = activation();
    const double long_mib = 4.0 * static_cast<double>(short_mib);
    plan_.bank = random_.integer(3, 4);
    steps(random_.integer(6, 10), static_cast<double>(short_mib));
    plan_.batches.front() = plan_.batches.back() = rows(long_mib);
    plan_.eval_every = 0;
    plan_.capacity_mib =
        even(step_mib(long_mib) + kRestMib + static_cast<double>(short_mib) * random_.uniform(0.2, 0.8));
  }

  // One request is larger than all that an ordinary step holds.
  void operator_spike() {
    const auto mib = static_cast<double>(activation());
    const double spike = step_mib(mib) * random_.uniform(1.4, 1.9);
    plan_.pairs_from = coin() ? 0 : random_.integer(2, 8);
    plan_.pairs_rows = static_cast<std::int64_t>(std::sqrt(spike * kMiB / 4));
    steps(plan_.pairs_from + 3, mib);
    plan_.capacity_mib = even(step_mib(mib) + kRestMib + spike * random_.uniform(0.2, 0.6));
  }

  // After resuming, what was read from the checkpoint is still there, beside the model and the optimizer.
  void resume_loads_state() {
    const auto mib = static_cast<double>(activation());
    resume(mib);
    plan_.keeps_checkpoint = true;
    const double more = parameters_mib() + step_mib(mib);
    plan_.capacity_mib =
        even(6 * parameters_mib() + kRestMib + more * (random_.integer(0, 2) > 0 ? random_.uniform(0.3, 0.75) : 1.4));
  }

  // Large layers, so that parameters and state count.
  void resume(double mib) {
    plan_.width = 2048;
    plan_.depth = random_.integer(3, 4);
    plan_.adam = plan_.resumes = true;
    steps(random_.integer(12, 14), mib);
  }
  double parameters_mib() const { return 16.0 * static_cast<double>(plan_.depth); }

  labrig::lab::Random random_;
  LoopPlan plan_;
};

}  // namespace oom_triage
