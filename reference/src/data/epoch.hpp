// One pass of a loader: which batches there are, who makes them, and when. With workers, each has `prefetch` batches
// under way or ready; for every batch that is handed over, one more is requested.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/workers.hpp"

namespace labrig::data::detail {

class Epoch {
 public:
  // `order`: the examples, one after another. The seeds of workers come from `base_seed`.
  Epoch(std::vector<std::int64_t> order, const DataLoaderOptions& options, std::uint64_t base_seed, MakeBatch make);

  // Null after the last batch. Throws what the making of the batch threw, with the batch in its `why`.
  std::unique_ptr<AnyBatch> next();

 private:
  std::span<const std::int64_t> examples_of(std::int64_t batch) const;
  void request_next();
  [[noreturn]] void rethrow(const std::exception_ptr& error, std::int64_t batch) const;

  const std::vector<std::int64_t> order_;
  const std::int64_t batch_size_, batches_;
  const int worker_count_;
  const MakeBatch make_;
  std::int64_t requested_ = 0, taken_ = 0;
  std::unique_ptr<Workers> workers_;  // null: batches are made when they are asked for
};

// From a generator, by default that of the calling thread: a seed for others.
std::uint64_t draw_seed(Generator* generator);
// Batches of `examples` examples.
std::int64_t batches_of(std::int64_t examples, const DataLoaderOptions& options);

}  // namespace labrig::data::detail
