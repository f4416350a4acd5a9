// labrig::data: which batches come, in which order, whatever the workers do; what goes wrong; the structure of batches.
// Without a card, except where a test makes one.
#include "labrig/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>

#include "backends/sim/machine.hpp"
#include "device/backend.hpp"
#include "expect_error.hpp"

namespace labrig::data {
namespace {

using test::error_of;
using test::expect_error;
using Numbers = std::vector<std::int64_t>;

sim::MachineOptions one_card() {
  sim::MachineOptions options;
  options.cards = {sim::load_profile(LABRIG_TEST_PROFILES "/desktop.toml").value()};
  return options;
}

// Example i is the number i.
struct Count : Dataset<std::int64_t> {
  explicit Count(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  std::int64_t get(std::int64_t index) const override { return index; }
  std::int64_t count_;
};

Numbers values_of(const Tensor& batch) {
  const auto values = batch.data<const std::int64_t>();
  return {values.begin(), values.end()};
}

template <class Loader>
std::vector<Numbers> batches_of(Loader& loader) {
  std::vector<Numbers> batches;
  for (const Tensor& batch : loader) batches.push_back(values_of(batch));
  return batches;
}

Numbers flat(const std::vector<Numbers>& batches) {
  Numbers all;
  for (const Numbers& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(DataLoader, GivesTheExamplesInOrderAndThenTheRest) {
  const Count dataset(7);
  DataLoader loader(dataset, {.batch_size = 3});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(batches_of(loader), (std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(batches_of(loader).size(), 3u) << "a second pass is like the first";
}

TEST(DataLoader, LeavesTheRestOutWhenAskedTo) {
  const Count dataset(7);
  DataLoader loader(dataset, {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(loader.size(), 2);
  EXPECT_EQ(batches_of(loader), (std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}}));
}

TEST(DataLoader, OfNothingHasNoBatches) {
  const Count dataset(0);
  for (const int workers : {0, 2}) {
    DataLoader loader(dataset, {.batch_size = 3, .num_workers = workers});
    EXPECT_EQ(batches_of(loader).size(), 0u);
  }
}

TEST(DataLoader, ShufflesAnewInEachPassAndTheSameForTheSameGenerator) {
  const Count dataset(50);
  const auto two_passes = [&](int workers) {
    Generator generator{.seed = 7, .offset = 0};
    DataLoader loader(dataset, {.batch_size = 8, .shuffle = true, .num_workers = workers, .generator = &generator});
    return std::pair(batches_of(loader), batches_of(loader));
  };
  const auto [first, second] = two_passes(0);
  EXPECT_NE(first, second);
  EXPECT_EQ(two_passes(3), std::pair(first, second));
  Numbers sorted = flat(first), all(50);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_NE(sorted, all);
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, all);
}

TEST(DataLoader, TakesItsOrderFromASampler) {
  struct Backwards : Sampler {
    std::int64_t size() const override { return 3; }
    Numbers epoch() override { return {2, 1, 0}; }
  } backwards;
  const Count dataset(100);
  DataLoader loader(dataset, {.batch_size = 2, .sampler = &backwards});
  EXPECT_EQ(batches_of(loader), (std::vector<Numbers>{{2, 1}, {0}}));
}

// Example 0 is not there before example 1, which another worker makes.
struct FirstIsLate : Count {
  FirstIsLate() : Count(6) {}
  std::int64_t get(std::int64_t index) const override {
    std::unique_lock lock(mutex);
    if (index == 1) second_made = true, made.notify_all();
    if (index == 0) made.wait(lock, [this] { return second_made; });
    return index;
  }
  mutable std::mutex mutex;
  mutable std::condition_variable made;
  mutable bool second_made = false;
};

TEST(DataLoader, KeepsTheOrderWhenAWorkerIsLate) {
  const FirstIsLate dataset;
  DataLoader loader(dataset, {.num_workers = 2});
  EXPECT_EQ(flat(batches_of(loader)), (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST(DataLoader, MakesNoMoreBatchesAheadThanItsWorkersMay) {
  struct Counting : Count {
    Counting() : Count(40) {}
    std::int64_t get(std::int64_t index) const override {
      made = std::max(made.load(), index + 1);
      return index;
    }
    mutable std::atomic<std::int64_t> made = 0;
  } dataset;
  const sim::InProcessMachine machine(one_card());  // no threads: what is requested is made at once
  DataLoader loader(dataset, {.num_workers = 2, .prefetch_factor = 3});
  std::int64_t taken = 0;
  for (const Tensor& batch : loader) {
    taken += batch.numel();
    EXPECT_EQ(dataset.made, std::min<std::int64_t>(40, taken + 6));
  }
  EXPECT_EQ(taken, 40);
}

TEST(DataLoader, CanBeLeftInTheMiddleOfAPass) {
  const Count dataset(100);
  DataLoader loader(dataset, {.num_workers = 3});
  for (const Tensor& batch : loader)
    if (batch.item<std::int64_t>() == 2) break;
  EXPECT_EQ(flat(batches_of(loader)).size(), 100u);
}

// Draws a number for each example.
struct Drawing : Dataset<Tensor> {
  std::int64_t size() const override { return 10; }
  Tensor get(std::int64_t) const override { return random_(empty({}, kI64), 0, 1 << 30); }
};

TEST(DataLoader, GivesEachWorkerAGeneratorOfItsOwnOnAllMachines) {
  const Drawing dataset;
  const auto draw = [&] {
    manual_seed(5);
    DataLoader loader(dataset, {.batch_size = 2, .num_workers = 2});
    return flat(batches_of(loader));
  };
  const Numbers with_threads = draw();
  EXPECT_EQ(draw(), with_threads);
  EXPECT_EQ(std::set(with_threads.begin(), with_threads.end()).size(), 10u) << "no worker draws what another one did";
  const sim::InProcessMachine machine(one_card());
  EXPECT_EQ(draw(), with_threads);
}

// --- what goes wrong ------------------------------------------------------------------------------------------------

template <class Thrown>
struct Broken : Count {
  explicit Broken(Thrown the_thrown) : Count(6), thrown(std::move(the_thrown)) {}
  std::int64_t get(std::int64_t index) const override {
    if (index == 3) throw thrown;
    return index;
  }
  Thrown thrown;
};

TEST(DataLoader, CarriesAnErrorOfAWorkerOverWithItsBatch) {
  const Broken dataset(Error("bad-example", "example 3 cannot be read", "its file is cut short", "fetch it again"));
  for (const int workers : {0, 2}) {
    DataLoader loader(dataset, {.batch_size = 2, .num_workers = workers});
    Numbers seen;
    const Error error = error_of([&] {
      for (const Tensor& batch : loader) seen.push_back(values_of(batch)[0]);
    });
    EXPECT_EQ(seen, Numbers{0}) << "what came before it was delivered";
    EXPECT_EQ(error.code(), "bad-example");
    EXPECT_STREQ(error.what(), "example 3 cannot be read");
    EXPECT_EQ(error.why(), workers == 0 ? "its file is cut short"
                                        : "worker 1 made batch 1 (2 examples from number 2 on) when this was thrown; "
                                          "its file is cut short");
  }
}

TEST(DataLoader, LeavesOtherErrorsTheirType) {
  const Broken dataset(std::out_of_range("no such row"));
  DataLoader loader(dataset, {.num_workers = 2});
  EXPECT_THROW(batches_of(loader), std::out_of_range);
}

TEST(DataLoader, RefusesOptionsInPyTorchsWords) {
  const Count dataset(4);
  const auto refused = [&](const DataLoaderOptions& options, const std::string& code, const std::string& what) {
    expect_error(code, what, [&] { DataLoader loader(dataset, options); });
  };
  refused({.batch_size = 0}, "invalid-argument", "batch_size should be a positive integer value, but got batch_size=0");
  refused({.num_workers = -1}, "invalid-argument",
          "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.");
  refused({.prefetch_factor = 4}, "invalid-argument",
          "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
          "multiprocessing, otherwise set prefetch_factor to None.");
  refused({.num_workers = 1, .prefetch_factor = 0}, "invalid-argument",
          "prefetch_factor option should be non-negative");
  SequentialSampler sampler(4);
  refused({.shuffle = true, .sampler = &sampler}, "invalid-argument",
          "sampler option is mutually exclusive with shuffle");
  EXPECT_EQ(error_of([&] { DataLoader loader(dataset, {.num_workers = kMaxWorkers + 1}); }).code(), "too-many-workers");
}

TEST(DataLoader, RefusesCardTensorsFromWorkersButNotFromTheLoopItself) {
  const sim::InProcessMachine machine(one_card());
  struct OnTheCard : Dataset<Tensor> {
    std::int64_t size() const override { return 2; }
    Tensor get(std::int64_t) const override { return ones({2}, Device("sim")); }
  } dataset;
  DataLoader with_workers(dataset, {.num_workers = 1});
  expect_error("card-tensor-in-worker",
               "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
               "'spawn' start method",
               [&] { with_workers.begin(); });
  DataLoader without(dataset);
  EXPECT_EQ((*without.begin()).device(), Device("sim:0"));
  DataLoader pinning(dataset, {.pin_memory = true});
  EXPECT_NE(std::string(error_of([&] { pinning.begin(); }).what()).find("only dense CPU tensors can be pinned"),
            std::string::npos);
}

TEST(TensorDataset, ChecksTheNumberOfRows) {
  expect_error("shape-mismatch", "Size mismatch between tensors", [] { TensorDataset({zeros({3, 2}), zeros({4})}); });
  EXPECT_EQ(error_of([] { TensorDataset({}); }).code(), "invalid-argument");
}

// --- the structure of batches ---------------------------------------------------------------------------------------

TEST(Collate, KeepsTheStructureOfTheExamples) {
  const std::vector<std::tuple<Tensor, int, double>> tuples = {{ones({2}), 3, 0.5}, {zeros({2}), 4, 1.5}};
  const auto [tensors, integers, reals] = collate(tuples);
  EXPECT_EQ(tensors.sizes(), Dims({2, 2}));
  EXPECT_EQ(values_of(integers), (Numbers{3, 4}));
  EXPECT_EQ(reals.dtype(), kF64);
  const auto map = collate(std::vector<std::map<std::string, Tensor>>{{{"x", ones({1})}}, {{"x", zeros({1})}}});
  EXPECT_EQ(map.at("x").sizes(), Dims({2, 1}));
  const std::pair<Tensor, std::vector<Tensor>> pair =
      collate(std::vector<std::pair<int, std::vector<Tensor>>>{{1, {ones({1}), ones({3})}}});
  EXPECT_EQ(pair.second[1].sizes(), Dims({1, 3}));
}

TEST(Collate, RefusesUnequalExamplesInPyTorchsWords) {
  expect_error("shape-mismatch",
               "stack expects each tensor to be equal size, but got [3] at entry 0 and [2] at entry 1",
               [] { collate(std::vector<Tensor>{zeros({3}), zeros({2})}); });
  expect_error("shape-mismatch", "each element in list of batch should be of equal size",
               [] { collate(std::vector<std::vector<int>>{{1, 2}, {1}}); });
}

// A type with its own ways (PIN-6).
struct Sentence {
  Tensor words;
  int pinned = 0;
  static Sentence collate(const std::vector<Sentence>& all) { return all[0]; }
  Sentence pin_memory() const { return {words.pin_memory(), pinned + 1}; }
};
struct Sentences : Dataset<Sentence> {
  std::int64_t size() const override { return 1; }
  Sentence get(std::int64_t) const override { return {ones({4}), 0}; }
};

TEST(PinMemory, KeepsTheTypeAndAsksATypeThatHasItsOwnWay) {
  const sim::InProcessMachine machine(one_card());
  using Batch = std::tuple<Tensor, std::pair<Tensor, int>, std::map<std::string, Tensor>, std::vector<Sentence>>;
  const Batch batch{ones({2}), {ones({2}), 5}, {{"x", ones({2})}}, {Sentence{ones({2})}}};
  const Batch pinned = pin_memory(batch);
  EXPECT_TRUE(std::get<0>(pinned).is_pinned());
  EXPECT_TRUE(std::get<1>(pinned).first.is_pinned());
  EXPECT_EQ(std::get<1>(pinned).second, 5);
  EXPECT_TRUE(std::get<2>(pinned).at("x").is_pinned());
  EXPECT_EQ(std::get<3>(pinned)[0].pinned, 1);
  const Sentences dataset;
  DataLoader loader(dataset, {.pin_memory = true});
  const auto first = loader.begin();
  EXPECT_EQ(first->pinned, 1);
  EXPECT_TRUE(first->words.is_pinned());
}

// --- on the virtual clock -------------------------------------------------------------------------------------------

// Each example costs the host some work.
struct Costly : Dataset<Tensor> {
  std::int64_t size() const override { return 8; }
  Tensor get(std::int64_t) const override { return full({1 << 20}, 1); }
};

// Nanoseconds of a pass whose loop works `per_batch` for each batch.
std::int64_t time_of_pass(int workers, std::uint64_t bytes_per_batch, bool leave_one = false) {
  const sim::InProcessMachine machine(one_card());
  const Costly dataset;
  Backend& host = backend_of(Device("sim"));
  DataLoader loader(dataset, {.num_workers = workers});
  if (leave_one) loader.begin();
  const std::int64_t begin = host.clock_ns();
  for (const Tensor& batch : loader) {
    EXPECT_EQ(batch.numel(), 1 << 20);
    host.host_work({0, bytes_per_batch});
  }
  return host.clock_ns() - begin;
}

TEST(VirtualWorkers, WorkBesideTheLoopAndEachOther) {
  constexpr std::uint64_t kBytes = 20'000'000;
  const auto near = [](std::int64_t seen, std::int64_t wanted) { return std::abs(seen - wanted) <= wanted / 50; };
  const std::int64_t making = time_of_pass(0, 0), looping = time_of_pass(0, kBytes) - making;
  ASSERT_GT(looping, making) << "the loop is slower than one worker";
  EXPECT_TRUE(near(time_of_pass(1, kBytes), looping + making / 8)) << "only the first batch is waited for";
  // A loop that does nothing waits for its workers: two need half of the time of one.
  const std::int64_t one = time_of_pass(1, 0), two = time_of_pass(2, 0);
  EXPECT_TRUE(near(one, making)) << one << " and " << making;
  EXPECT_TRUE(near(two, making / 2)) << two << " and " << making;
  EXPECT_EQ(time_of_pass(2, 0), two) << "to the nanosecond";
}

TEST(VirtualWorkers, StartAnewInEachPass) {
  const std::int64_t whole = time_of_pass(2, 0), after_one_left = time_of_pass(2, 0, true);
  EXPECT_LE(std::abs(after_one_left - whole), 1) << "the clock is read in whole nanoseconds";
}

}  // namespace
}  // namespace labrig::data
