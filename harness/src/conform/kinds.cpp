// The table.
#include "conform/kinds.hpp"

#include <array>

#include "conform/alloc_traces.hpp"
#include "conform/autocast.hpp"
#include "conform/errors.hpp"
#include "conform/grad_scaler.hpp"
#include "conform/operators.hpp"
#include "conform/optimizers.hpp"
#include "conform/training_peaks.hpp"

namespace labrig::conform {
namespace {

constexpr std::array kKinds = {
    Kind{"alloc_traces", "the caching allocator: every statistic after every operation, and every block address",
         alloc_traces},
    Kind{"operators", "every operator: the output and the gradient of each input", operators},
    Kind{"optimizers", "SGD, Adam and AdamW: each parameter after each step", optimizers},
    Kind{"grad_scaler", "the gradient scaler: scale, tracker and skipped steps, bit for bit", grad_scaler},
    Kind{"autocast", "mixed precision: the type of each result, of the table and of operators that are run",
         autocast_rows},
    Kind{"errors", "what is said to each mistake", errors},
    Kind{"training_peaks", "the memory of an MLP's training steps", training_peaks},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind& kind_named(std::string_view name) {
  std::string list;
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind;
    list += (list.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw Error("unknown-kind", "'" + std::string(name) + "' is no kind of recording", "the kinds are " + list,
              "write `labrig conform KIND FILE` with one of them");
}

}  // namespace labrig::conform
