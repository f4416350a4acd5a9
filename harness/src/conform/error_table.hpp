// The mistakes of an `errors` recording, each as a few lines that make it: what PyTorch says to them is in the
// recording, what the core says is compared with it. Read next: errors.hpp.
#pragma once

#include <string>
#include <string_view>

#include "conform/target.hpp"

namespace labrig::conform {

// Where a mistake is made, and what was recorded for it: sizes that the recorded text has are used again.
struct Scene {
  Target& target;
  const std::string& recorded;

  Device card() const { return target.device(); }
};

struct Mistake {
  std::string_view key;
  // Throws the error that is compared; or returns, where none was recorded.
  void (*make)(const Scene& scene);
  enum class Needs : std::uint8_t { nothing, card, no_cuda_card } needs = Needs::nothing;
};

// Null for a key that is not known here.
const Mistake* mistake_named(std::string_view key);
// Why our interface has no such mistake; empty for a key that is not such a one.
std::string_view why_not_here(std::string_view key);

}  // namespace labrig::conform
