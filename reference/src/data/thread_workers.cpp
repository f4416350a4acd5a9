// Workers that are threads: each has a queue of jobs, all share one table of outcomes. A thread starts with the state
// that every new thread has (gradients on, no autocast region, default streams) and tells no simulated card what it
// does.
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "data/workers.hpp"
#include "device/thread_state.hpp"

namespace labrig::data::detail {
namespace {

class ThreadWorkers final : public Workers {
 public:
  ThreadWorkers(int count, std::uint64_t base_seed, const MakeBatch& make)
      : make_(make), queues_(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < queues_.size(); ++i)
      threads_.emplace_back([this, i, seed = base_seed + i] { work(queues_[i], seed); });
  }
  ~ThreadWorkers() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    requested_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void request(std::int64_t batch, std::span<const std::int64_t> examples) override {
    {
      const std::lock_guard lock(mutex_);
      queues_[static_cast<std::size_t>(batch) % queues_.size()].push_back({batch, examples});
    }
    requested_.notify_all();
  }

  Outcome take(std::int64_t batch) override {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return outcomes_.contains(batch); });
    return std::move(outcomes_.extract(batch).mapped());
  }

 private:
  struct Job {
    std::int64_t batch;
    std::span<const std::int64_t> examples;
  };

  void work(std::deque<Job>& queue, std::uint64_t seed) {
    thread_state().generator = {.seed = seed, .offset = 0};
    JobCost unseen;
    thread_state().job = &unseen;
    std::unique_lock lock(mutex_);
    while (true) {
      requested_.wait(lock, [&] { return ending_ || !queue.empty(); });
      if (ending_) return;
      const Job job = queue.front();
      queue.pop_front();
      lock.unlock();
      Outcome outcome = run_job(make_, job.examples);
      lock.lock();
      outcomes_.emplace(job.batch, std::move(outcome));
      done_.notify_all();
    }
  }

  const MakeBatch& make_;
  std::mutex mutex_;  // of everything below
  std::condition_variable requested_, done_;
  bool ending_ = false;
  std::vector<std::deque<Job>> queues_;  // by worker
  std::map<std::int64_t, Outcome> outcomes_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Workers> make_thread_workers(int count, std::uint64_t base_seed, const MakeBatch& make) {
  return std::make_unique<ThreadWorkers>(count, base_seed, make);
}

}  // namespace labrig::data::detail
