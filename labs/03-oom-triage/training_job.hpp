// The job of task 2 as the lab hands it out: it knows each try, because every try begins with samples. What it sees is
// in Watch: what the checks `survives` and `no-cargo-cult` go by.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "labrig/error.hpp"
#include "labrig/memory.hpp"

namespace oom_triage {

// Filled while train() runs. Shared with the card's observer, which stays when the job has gone.
struct Watch {
  static constexpr std::int64_t kSpareBytes = 512 << 10;  // what a retry may hold beyond what the step began with
  static constexpr int kMostFailures = 12;                // in a row

  labrig::Device device;
  std::int64_t failures = 0, failures_in_a_row = 0;
  std::int64_t count = 0;                               // of the samples taken last
  bool failed = false;                                  // since then
  std::set<std::pair<std::int64_t, std::size_t>> seen;  // samples and bytes of the requests that failed

  std::int64_t repeated = 0;    // failures of the same request with the same number of samples
  std::int64_t held_bytes = 0;  // the most that a retry found beyond what the step began with
  std::int64_t emptied = 0;     // times that the cache was emptied between two takes

  std::int64_t freed = 0, flushes = 0;  // what the allocator had given back by the last look, and how often by itself

  void look_at_the_cache() {
    const auto stats = labrig::memory_stats(device);
    const auto now = [&](const char* key) {
      const auto found = stats.find(key);
      return found == stats.end() ? 0 : found->second;
    };
    // Segments go back when a request fails and the allocator flushes, or because somebody asked for it.
    if (count > 0 && now("num_device_free") > freed && now("num_alloc_retries") == flushes) ++emptied;
    freed = now("num_device_free");
    flushes = now("num_alloc_retries");
  }

  void out_of_memory(const labrig::OutOfMemory& facts) {
    look_at_the_cache();
    ++failures;
    ++failures_in_a_row;
    failed = true;
    if (!seen.emplace(count, facts.requested_bytes).second) ++repeated;
  }
};

class TrainingJob : public Job {
 public:
  // x and y hold the samples of one step, the same for all.
  TrainingJob(labrig::nn::Sequential model, labrig::Tensor x, labrig::Tensor y, std::int64_t steps, double rate,
              labrig::Device device)
      : model_(std::move(model)),
        x_(std::move(x)),
        y_(std::move(y)),
        rate_(rate),
        through_(static_cast<std::size_t>(steps), std::vector<char>(static_cast<std::size_t>(x_.size(0)))),
        watch_(std::make_shared<Watch>()) {
    watch_->device = device;
    labrig::attach_out_of_memory_observer(
        device, [watch = watch_](const labrig::OutOfMemory& facts) { watch->out_of_memory(facts); });
  }

  std::int64_t steps() const override { return static_cast<std::int64_t>(through_.size()); }
  std::int64_t samples() const override { return x_.size(0); }
  labrig::nn::Sequential& model() override { return model_; }
  double learning_rate() const override { return rate_; }

  Samples take(std::int64_t step, std::int64_t first, std::int64_t count) override {
    if (step < 0 || step >= steps() || first < 0 || count < 1 || first + count > samples())
      throw labrig::Error("no-samples",
                          "take(" + std::to_string(step) + ", " + std::to_string(first) + ", " + std::to_string(count) +
                              ") asks for samples that there are not",
                          "the job has " + std::to_string(steps()) + " steps of " + std::to_string(samples()) +
                              " samples, and a take has at least one",
                          "stop making micro-batches smaller when they have one sample: then let the error go");
    watch_->look_at_the_cache();
    if (!watch_->failed) got_through();
    if (watch_->failures_in_a_row > Watch::kMostFailures)
      throw labrig::Error("too-many-tries",
                          "memory ran out " + std::to_string(watch_->failures_in_a_row) + " times in a row",
                          "nothing got through in between", "give up when a single sample does not fit");
    note_what_is_held(step);
    step_ = step;
    first_ = first;
    watch_->count = count;
    watch_->failed = false;
    return {x_.narrow(0, first, count), y_.narrow(0, first, count)};
  }

  // After train(): whether every sample of every step got through.
  bool complete() {
    if (!watch_->failed) got_through();
    return std::ranges::all_of(through_, [](const auto& step) { return std::ranges::count(step, 0) == 0; });
  }
  const Watch& watch() const { return *watch_; }

 private:
  // The samples taken last did not run out of memory.
  void got_through() {
    if (watch_->count == 0) return;
    auto& step = through_[static_cast<std::size_t>(step_)];
    std::fill_n(step.begin() + first_, watch_->count, 1);
    watch_->failures_in_a_row = 0;
  }

  void note_what_is_held(std::int64_t step) {
    const auto live = static_cast<std::int64_t>(labrig::memory_allocated(watch_->device));
    if (watch_->failed) {
      if (live > began_with_ + Watch::kSpareBytes)
        watch_->held_bytes = std::max(watch_->held_bytes, live - began_with_);
    } else if (step != step_ || watch_->count == 0) {
      began_with_ = live;
    }
  }

  labrig::nn::Sequential model_;
  labrig::Tensor x_, y_;
  double rate_;
  std::vector<std::vector<char>> through_;  // by step: which samples
  std::int64_t step_ = 0, first_ = 0;
  std::int64_t began_with_ = 0;  // bytes that lived when the step took its first samples
  std::shared_ptr<Watch> watch_;
};

}  // namespace oom_triage
