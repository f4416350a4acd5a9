// The datasets and samplers that come with the loader.
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "data/epoch.hpp"
#include "labrig/error.hpp"

namespace labrig::data {

TensorDataset::TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
  if (tensors_.empty())
    throw Error("invalid-argument", "a TensorDataset needs at least one tensor", "its size is that of its tensors",
                "give the tensor of the inputs, and that of the targets");
  for (const Tensor& tensor : tensors_)
    if (tensor.size(0) != size())
      throw Error("shape-mismatch", "Size mismatch between tensors",
                  "the first tensor has " + std::to_string(size()) + " rows, another one has " +
                      std::to_string(tensor.size(0)) + "; example i is row i of each",
                  "give tensors with one row an example");
}

std::vector<Tensor> TensorDataset::get(std::int64_t index) const {
  std::vector<Tensor> example;
  example.reserve(tensors_.size());
  for (const Tensor& tensor : tensors_) example.push_back(tensor[index]);
  return example;
}

namespace {

std::vector<std::int64_t> values_of(const Tensor& numbers) {
  const std::span<const std::int64_t> values = numbers.data<const std::int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

std::uint64_t detail::draw_seed(Generator* generator) {
  const Tensor seed = random_(empty({}, kI64), 0, std::numeric_limits<std::int64_t>::max(), generator);
  return static_cast<std::uint64_t>(seed.item<std::int64_t>());
}

std::vector<std::int64_t> SequentialSampler::epoch() { return values_of(arange(size_)); }

std::vector<std::int64_t> RandomSampler::epoch() {
  if (generator_ != nullptr) return values_of(randperm(size_, generator_));
  Generator drawn{.seed = detail::draw_seed(nullptr), .offset = 0};
  return values_of(randperm(size_, &drawn));
}

}  // namespace labrig::data
