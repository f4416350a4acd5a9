// Workers of a simulated machine. A job is carried out at its request, by the thread that asks, so that nothing depends
// on real threads; what its operators cost goes to the clock of its worker instead of the host's:
//
//   host      request 0, 1 ── trains … ── take 0 ─────── trains … ── take 1 ── waits ┐
//   worker 0  ▐ job 0 ▌                                                              ▼
//   worker 1  ▐ job 1 (slow) ────────────────────────────────────────────────────────▌
//
// Memory that a job pins is the host's doing all the same, and is announced to the card at once.
#include <map>
#include <vector>

#include "data/workers.hpp"
#include "device/thread_state.hpp"

namespace labrig::data::detail {
namespace {

// While it lives, the calling thread has what belongs to a worker, and the state of a new thread otherwise.
class WorkersPlace {
 public:
  WorkersPlace(Generator& generator, JobCost& cost) : generator_(generator), before_(state()) {
    state().generator = generator;
    state().job = &cost;
    state().grad_enabled = true;
    state().autocast = nullptr;
  }
  ~WorkersPlace() {
    generator_ = state().generator;
    state().generator = before_.generator;
    state().job = before_.job;
    state().grad_enabled = before_.grad_enabled;
    state().autocast = before_.autocast;
  }
  WorkersPlace(const WorkersPlace&) = delete;
  WorkersPlace& operator=(const WorkersPlace&) = delete;

 private:
  static ThreadState& state() { return thread_state(); }

  Generator& generator_;
  const ThreadState before_;
};

class VirtualWorkers final : public Workers {
 public:
  VirtualWorkers(int count, std::uint64_t base_seed, const MakeBatch& make)
      : make_(make), clock_(attached_sim_clock()) {
    for (int i = 0; i < count; ++i) {
      generators_.push_back({.seed = base_seed + static_cast<std::uint64_t>(i), .offset = 0});
      clocks_.push_back(clock_->open_worker());
    }
  }
  ~VirtualWorkers() override {
    if (is_there())
      for (const int worker : clocks_) clock_->close_worker(worker);
  }

  void request(std::int64_t batch, std::span<const std::int64_t> examples) override {
    const auto worker = static_cast<std::size_t>(batch) % clocks_.size();
    JobCost cost;
    {
      const WorkersPlace place(generators_[worker], cost);
      outcomes_.emplace(batch, run_job(make_, examples));
    }
    if (is_there()) clock_->queue_job(clocks_[worker], cost);
  }

  Outcome take(std::int64_t batch) override {
    if (is_there()) clock_->take_job(clocks_[static_cast<std::size_t>(batch) % clocks_.size()]);
    return std::move(outcomes_.extract(batch).mapped());
  }

 private:
  // The machine may have gone away in the middle of a pass.
  bool is_there() const { return attached_sim_clock() == clock_; }

  const MakeBatch& make_;
  Backend* clock_;
  std::vector<Generator> generators_;  // by worker
  std::vector<int> clocks_;            // by worker: the machine's number for it
  std::map<std::int64_t, Outcome> outcomes_;
};

}  // namespace

std::unique_ptr<Workers> make_virtual_workers(int count, std::uint64_t base_seed, const MakeBatch& make) {
  return std::make_unique<VirtualWorkers>(count, base_seed, make);
}

}  // namespace labrig::data::detail
