// The parts of collate() that need no template.
#include "labrig/collate.hpp"

#include <string>

#include "labrig/error.hpp"
#include "labrig/ops.hpp"

namespace labrig::data::detail {

Tensor stack_examples(const std::vector<Tensor>& examples) { return stack(examples, 0); }

void require_equal_length(std::size_t first, std::size_t other) {
  if (first == other) return;
  throw Error("shape-mismatch", "each element in list of batch should be of equal size",
              "one example has " + std::to_string(first) + " parts, another one " + std::to_string(other),
              "let the dataset return examples of one length, or give the loader a collate function of your own");
}

}  // namespace labrig::data::detail
