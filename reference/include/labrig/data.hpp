// Data for training: a Dataset gives examples by number, a Sampler says in which order, a DataLoader makes batches of
// them, ahead of time and on several workers if asked to. A library of its own: link labrig::data.
//
//   data::TensorDataset dataset({images, labels});
//   data::DataLoader loader(dataset, {.batch_size = 64, .shuffle = true, .num_workers = 2, .pin_memory = true});
//   for (int epoch = 0; epoch < epochs; ++epoch)
//     for (const auto& batch : loader) step(batch[0].to(device, true), batch[1].to(device, true));
//
// An example may be a tensor, a number, or vectors, pairs, tuples and string maps of those, or a type of your own; see
// collate.hpp. Read next: reference/src/data/epoch.cpp (who works when).
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "labrig/collate.hpp"
#include "labrig/export.hpp"
#include "labrig/random.hpp"
#include "labrig/tensor.hpp"

namespace labrig::data {

// Examples number 0 … size() - 1.
template <class Example>
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  // With workers, called by several threads at once. Examples live on the CPU.
  virtual Example get(std::int64_t index) const = 0;
};

// Example i: row i of each tensor.
class LABRIG_API TensorDataset : public Dataset<std::vector<Tensor>> {
 public:
  // Throws `shape-mismatch` unless all have the same number of rows, and `invalid-argument` for no tensor at all.
  explicit TensorDataset(std::vector<Tensor> tensors);
  std::int64_t size() const override { return tensors_[0].size(0); }
  std::vector<Tensor> get(std::int64_t index) const override;

 private:
  std::vector<Tensor> tensors_;
};

// The order of the examples of one pass.
class LABRIG_API Sampler {
 public:
  virtual ~Sampler() = default;
  virtual std::int64_t size() const = 0;
  // Called at the start of each pass.
  virtual std::vector<std::int64_t> epoch() = 0;
};

// 0, 1, …
class LABRIG_API SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  std::vector<std::int64_t> epoch() override;

 private:
  std::int64_t size_;
};

// Each number once, in an order drawn anew for each pass from `generator`, or else from a seed that the calling
// thread's generator gives.
class LABRIG_API RandomSampler : public Sampler {
 public:
  explicit RandomSampler(std::int64_t size, Generator* generator = nullptr) : size_(size), generator_(generator) {}
  std::int64_t size() const override { return size_; }
  std::vector<std::int64_t> epoch() override;

 private:
  std::int64_t size_;
  Generator* generator_;
};

struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;            // a RandomSampler instead of a SequentialSampler
  bool drop_last = false;          // leave out a last batch of fewer examples
  int num_workers = 0;             // 0: batches are made when they are asked for, on the calling thread
  std::optional<int> prefetch_factor = {};  // batches that each worker has under way or ready; 2 when not given
  bool pin_memory = false;         // batches in pinned memory (where there is a card)
  Generator* generator = nullptr;  // for shuffling and for the workers' seeds
  Sampler* sampler = nullptr;      // instead of `shuffle`; lives longer than the loader
};
inline constexpr int kMaxWorkers = 64;

namespace detail {

// A batch of some type.
struct AnyBatch {
  virtual ~AnyBatch() = default;
};
template <class Batch>
struct BatchOf : AnyBatch {
  explicit BatchOf(Batch made) : value(std::move(made)) {}
  Batch value;
};
using MakeBatch = std::function<std::unique_ptr<AnyBatch>(std::span<const std::int64_t> examples)>;

// What does not depend on the types: samplers, workers, order. One pass is an Epoch.
class Epoch;
class LABRIG_API Loader {
 public:
  // Throws `invalid-argument` for options that contradict each other, with PyTorch's text, and `too-many-workers`.
  Loader(std::int64_t dataset_size, DataLoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  const DataLoaderOptions& options() const { return options_; }
  // Batches of one pass.
  std::int64_t size() const;
  // Ends the pass under way, if any, and starts another one.
  void start(MakeBatch make);
  // The next batch; null after the last one. Throws what went wrong while it was made; the pass can go on after that.
  std::unique_ptr<AnyBatch> next();

 private:
  DataLoaderOptions options_;
  std::unique_ptr<Sampler> own_sampler_;
  std::unique_ptr<Epoch> epoch_;
};

// Throws `card-tensor-in-worker` for a tensor that is not on the CPU in a batch that a worker made.
LABRIG_API void require_host_tensor(const Tensor& tensor);
// True when pinned memory would be of use: a card is there.
LABRIG_API bool can_pin();

}  // namespace detail

// Batches come in the order of the sampler, whatever the workers do: batch i is made by worker i modulo their number,
// each of which has a generator of its own. What a dataset throws is thrown by the loop at that batch. On a simulated
// machine there are no threads: batches are made on the calling thread, and the card keeps a clock for each worker.
// One pass at a time.
template <class Example, class Batch = Collated<Example>>
class DataLoader {
 public:
  using Collate = std::function<Batch(const std::vector<Example>&)>;

  // Keeps a reference to `dataset`. Throws as detail::Loader does.
  explicit DataLoader(
      const Dataset<Example>& dataset, DataLoaderOptions options = {},
      Collate collate = [](const std::vector<Example>& all) { return data::collate(all); })
      : dataset_(dataset), collate_(std::move(collate)), loader_(dataset.size(), options) {}
  explicit DataLoader(const Dataset<Example>&& temporary, DataLoaderOptions options = {}) = delete;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = const Batch*;
    using reference = const Batch&;

    Iterator() = default;
    explicit Iterator(detail::Loader& loader) : loader_(&loader), batch_(loader.next()) {}
    const Batch& operator*() const { return static_cast<const detail::BatchOf<Batch>&>(*batch_).value; }
    const Batch* operator->() const { return &**this; }
    Iterator& operator++() {
      batch_.reset();  // before the next one is made: the two are never there at once
      batch_ = loader_->next();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return batch_ == nullptr; }

   private:
    detail::Loader* loader_ = nullptr;
    std::unique_ptr<detail::AnyBatch> batch_;
  };

  // Starts a pass.
  Iterator begin() {
    loader_.start([this](std::span<const std::int64_t> examples) { return make(examples); });
    return Iterator(loader_);
  }
  std::default_sentinel_t end() const { return {}; }
  std::int64_t size() const { return loader_.size(); }

 private:
  std::unique_ptr<detail::AnyBatch> make(std::span<const std::int64_t> numbers) const {
    std::vector<Example> examples;
    examples.reserve(numbers.size());
    for (const std::int64_t number : numbers) examples.push_back(dataset_.get(number));
    Batch batch = collate_(examples);
    if (loader_.options().num_workers > 0) for_each_tensor(batch, detail::require_host_tensor);
    if (loader_.options().pin_memory && detail::can_pin()) batch = pin_memory(batch);
    return std::make_unique<detail::BatchOf<Batch>>(std::move(batch));
  }

  const Dataset<Example>& dataset_;
  Collate collate_;
  detail::Loader loader_;
};
template <class Set>
DataLoader(const Set&, DataLoaderOptions = {}) -> DataLoader<decltype(std::declval<const Set&>().get(std::int64_t{0}))>;

}  // namespace labrig::data
