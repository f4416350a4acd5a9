// The order of things in a pass. Read next: workers.hpp.
#include "data/epoch.hpp"

#include <algorithm>
#include <string>
#include <typeinfo>
#include <utility>

#include "device/backend.hpp"
#include "labrig/error.hpp"

namespace labrig::data::detail {
namespace {

constexpr int kPrefetch = 2;  // PyTorch's default

std::unique_ptr<Workers> make_workers(int count, std::uint64_t base_seed, const MakeBatch& make) {
  if (count == 0) return nullptr;
  const bool simulated = attached_sim_clock() != nullptr;
  return simulated ? make_virtual_workers(count, base_seed, make) : make_thread_workers(count, base_seed, make);
}

}  // namespace

Outcome run_job(const MakeBatch& make, std::span<const std::int64_t> examples) {
  try {
    return {make(examples), nullptr};
  } catch (...) {
    return {nullptr, std::current_exception()};
  }
}

std::int64_t batches_of(std::int64_t examples, const DataLoaderOptions& options) {
  const std::int64_t rounding = options.drop_last ? 0 : options.batch_size - 1;
  return (examples + rounding) / options.batch_size;
}

Epoch::Epoch(std::vector<std::int64_t> order, const DataLoaderOptions& options, std::uint64_t base_seed, MakeBatch make)
    : order_(std::move(order)),
      batch_size_(options.batch_size),
      batches_(batches_of(std::ssize(order_), options)),
      worker_count_(options.num_workers),
      make_(std::move(make)),
      workers_(make_workers(options.num_workers, base_seed, make_)) {
  if (!workers_) return;
  const int ahead = options.prefetch_factor.value_or(kPrefetch) * worker_count_;
  for (int i = 0; i < ahead; ++i) request_next();
}

std::span<const std::int64_t> Epoch::examples_of(std::int64_t batch) const {
  const std::span<const std::int64_t> rest = std::span(order_).subspan(static_cast<std::size_t>(batch * batch_size_));
  return rest.first(std::min(rest.size(), static_cast<std::size_t>(batch_size_)));
}

void Epoch::request_next() {
  if (requested_ == batches_) return;
  workers_->request(requested_, examples_of(requested_));
  ++requested_;
}

std::unique_ptr<AnyBatch> Epoch::next() {
  if (taken_ == batches_) return nullptr;
  const std::int64_t batch = taken_++;
  if (!workers_) return make_(examples_of(batch));
  Outcome outcome = workers_->take(batch);
  request_next();
  if (outcome.error) rethrow(outcome.error, batch);
  return std::move(outcome.batch);
}

// An Error of a worker keeps its code and its first sentence. Errors of other types are thrown as they are: their type
// says more than a sentence could.
void Epoch::rethrow(const std::exception_ptr& error, std::int64_t batch) const {
  const std::string place = "worker " + std::to_string(batch % worker_count_) + " made batch " + std::to_string(batch) +
                            " (" + std::to_string(examples_of(batch).size()) + " examples from number " +
                            std::to_string(examples_of(batch)[0]) + " on) when this was thrown";
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    if (typeid(thrown) != typeid(Error)) throw;
    throw Error(thrown.code(), thrown.what(), place + "; " + thrown.why(), thrown.fix(), thrown.where());
  }
}

}  // namespace labrig::data::detail
