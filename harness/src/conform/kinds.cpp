#include "conform/kinds.hpp"

#include <array>

#include "conform/alloc_traces.hpp"

namespace labrig::conform {
namespace {

constexpr std::array kKinds = {
    Kind{"alloc_traces", "the caching allocator: every statistic after every operation, and every block address",
         alloc_traces},
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
