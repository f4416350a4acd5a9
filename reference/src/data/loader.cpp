// Loader: checks its options, as torch.utils.data.DataLoader does, and starts passes.
#include <string>

#include "data/epoch.hpp"
#include "device/backend.hpp"
#include "labrig/error.hpp"

namespace labrig::data::detail {
namespace {

[[noreturn]] void throw_option(std::string what, std::string why, std::string fix) {
  throw Error("invalid-argument", std::move(what), std::move(why), std::move(fix));
}

void check(const DataLoaderOptions& options) {
  if (options.num_workers < 0)
    throw_option("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
                 "it is " + std::to_string(options.num_workers), "give 0, or a small number such as 2");
  if (options.num_workers > kMaxWorkers)
    throw Error("too-many-workers",
                "This DataLoader will create " + std::to_string(options.num_workers) +
                    " worker processes in total. Our suggested max number of worker in current system is " +
                    std::to_string(kMaxWorkers) + ", which is smaller than what this DataLoader is going to create.",
                "workers beyond the processors of a machine only wait for each other",
                "give num_workers of at most the number of processors");
  if (options.num_workers == 0 && options.prefetch_factor)
    throw_option(
        "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
        "multiprocessing, otherwise set prefetch_factor to None.",
        "without workers a batch is made when it is asked for, so none can be made ahead",
        "give num_workers above 0, or leave prefetch_factor out");
  if (options.prefetch_factor.value_or(1) < 1)
    throw_option("prefetch_factor option should be non-negative",
                 "it is " + std::to_string(*options.prefetch_factor) + ", and no batch would ever be requested",
                 "give 1 or more; 2 is the default");
  if (options.sampler != nullptr && options.shuffle)
    throw_option("sampler option is mutually exclusive with shuffle",
                 "shuffle stands for a RandomSampler, and a pass has one order",
                 "leave shuffle out, or let your sampler draw the order");
  if (options.batch_size <= 0)
    throw_option(
        "batch_size should be a positive integer value, but got batch_size=" + std::to_string(options.batch_size),
        "a batch holds at least one example", "give 1 or more");
}

}  // namespace

Loader::Loader(std::int64_t dataset_size, DataLoaderOptions options) : options_(options) {
  check(options);
  if (options.sampler != nullptr) return;
  if (options.shuffle)
    own_sampler_ = std::make_unique<RandomSampler>(dataset_size, options.generator);
  else
    own_sampler_ = std::make_unique<SequentialSampler>(dataset_size);
  options_.sampler = own_sampler_.get();
}
Loader::~Loader() = default;

std::int64_t Loader::size() const { return batches_of(options_.sampler->size(), options_); }

// As in PyTorch a pass first draws the seed of its workers, then its order.
void Loader::start(MakeBatch make) {
  epoch_.reset();
  const std::uint64_t base_seed = draw_seed(options_.generator);
  epoch_ = std::make_unique<Epoch>(options_.sampler->epoch(), options_, base_seed, std::move(make));
}

std::unique_ptr<AnyBatch> Loader::next() {
  if (!epoch_) return nullptr;
  std::unique_ptr<AnyBatch> batch = epoch_->next();
  if (!batch) epoch_.reset();  // its workers end
  return batch;
}

void require_host_tensor(const Tensor& tensor) {
  if (tensor.device().is_cpu()) return;
  throw Error("card-tensor-in-worker",
              "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
              "'spawn' start method",
              "a worker of the loader made a tensor on " + tensor.device().str() +
                  ", and only the training thread talks to the card",
              "keep the dataset on the CPU, and move each batch to the card in the loop");
}

bool can_pin() { return attached_sim_clock() != nullptr || device_count(DeviceType::cuda) > 0; }

}  // namespace labrig::data::detail
