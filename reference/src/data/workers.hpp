// The workers of one pass of a loader. A job makes batch number i; it is the work of worker i modulo their number, each
// of which does its jobs one after another, with a generator of its own that nobody else draws from.
//
//   threads    real ones, on the host: thread_workers.cpp
//   virtual    of a simulated machine, without threads: virtual_workers.cpp
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>

#include "labrig/data.hpp"

namespace labrig::data::detail {

// What a job came to: a batch, or what was thrown.
struct Outcome {
  std::unique_ptr<AnyBatch> batch;
  std::exception_ptr error;
};

class Workers {
 public:
  // Ends them; jobs that have not begun are dropped.
  virtual ~Workers() = default;
  // `examples` and what the jobs use stay where they are until the workers end.
  virtual void request(std::int64_t batch, std::span<const std::int64_t> examples) = 0;
  // Waits for the job, whose batch was requested and not taken yet.
  virtual Outcome take(std::int64_t batch) = 0;
};

// Worker w starts with the seed `base_seed` + w.
std::unique_ptr<Workers> make_thread_workers(int count, std::uint64_t base_seed, const MakeBatch& make);
// On the clock of the simulated machine that is attached to this process. Throws `too-many-workers`.
std::unique_ptr<Workers> make_virtual_workers(int count, std::uint64_t base_seed, const MakeBatch& make);

// Carries a job out on the calling thread.
Outcome run_job(const MakeBatch& make, std::span<const std::int64_t> examples);

}  // namespace labrig::data::detail
