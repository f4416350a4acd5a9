// What this machine says about real cards before any is used, and what follows from it: for `labrig doctor`.
#pragma once

#include <string>
#include <vector>

namespace labrig::store {

struct CardFacts {
  bool backend = false;      // this labrig has its cuda part
  int cards = 0;             // that the runtime sees
  std::string why_none;      // what the core says where there is none; empty with cards
  std::string driver;        // first line of /proc/driver/nvidia/version; empty: no driver is loaded
  int nodes = 0;             // /dev/nvidia0, /dev/nvidia1, …
  bool container = false;    // this is one
  bool visible_set = false;  // CUDA_VISIBLE_DEVICES is set,
  std::string visible;       // to this
};

CardFacts card_facts(bool backend);

// Why no card can be used although there may be one, and what to do. Empty text: there is nothing to say, because cards
// are there, or this machine has none.
struct CardAdvice {
  std::string text, fix;
};
CardAdvice card_advice(const CardFacts& facts);

}  // namespace labrig::store
