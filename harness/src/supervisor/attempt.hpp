// One case, once: a card if the case has one, a worker with one plugin, the judge. The reference solution goes the same
// way as a submission.
#pragma once

#include <filesystem>
#include <mutex>

#include "backends/sim/machine.hpp"
#include "grade/outcome.hpp"
#include "spec/lab_spec.hpp"
#include "spec/plan.hpp"
#include "supervisor/orphans.hpp"

namespace labrig::supervisor {

// What all cases of a run share.
struct Surroundings {
  spec::LabSpec lab;
  std::filesystem::path programs;
  // The lab's call() says itself where counting starts. Otherwise the worker says so before the submission is loaded,
  // and the card refuses whoever wants to start it again.
  bool lab_starts_counting = false;
  int cancelled = -1;  // readable when the run is to be given up
  Orphans* orphans = nullptr;
  // Held while the lab's judge works: its author need not think of threads, and it may use the one simulated machine of
  // this process (labrig/cost_card.hpp), whose clock also counts the operators of other threads.
  std::mutex* judging = nullptr;
};

// The outcome without reference figures. What fails on our side (card, judge, worker program) is an outcome `fault`.
// `reference` is what the reference solution does; null for the reference solution itself.
grade::CaseOutcome attempt(const Surroundings& surroundings, const spec::Case& plan,
                           const std::filesystem::path& plugin, sim::Mode mode, const grade::Reference* reference);

}  // namespace labrig::supervisor
