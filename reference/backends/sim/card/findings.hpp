// What the ledger found, for people: conflicts grouped by kind and by the names of both operations, counted, and worded
// in three sentences; and notes on what is odd but legal.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "card/conflict.hpp"
#include "card/names.hpp"
#include "machine.hpp"

namespace labrig::sim {

// The later side of a conflict.
struct Later {
  Who who;  // Kind::host: the host
  std::uint16_t device = 0, stream = 0;
  std::uint64_t operation = 0;
  bool frees = false;        // the host gives the memory back
  std::int64_t time_ps = 0;  // of its submission, since the beginning
};

class Findings {
 public:
  Findings(const NameTable& names, const Order& order, std::size_t cards)
      : names_(names), order_(order), cards_(cards) {}

  // Adds the conflicts of one operation or host access; returns how many pairs of operations they are.
  std::uint64_t add(const Later& later, std::span<const Conflict> conflicts, std::span<const MemoryAccess> accesses);
  // A tensor got its name after it was used.
  void name_block(std::uint64_t block, std::uint32_t name);
  void note_undefined(const Who& who, std::uint32_t buffer, std::uint64_t bytes);
  // Starts again from nothing.
  void clear();

  std::vector<Hazard> hazards() const;
  std::vector<std::string> notes() const { return notes_; }

  // "kernel 'matmul(chunk, weights)'", "copy 'upload chunk'", "the host".
  std::string what(const Who& who) const;

 private:
  static constexpr std::size_t kKept = 1000;  // groups; pairs of others are counted and not named
  static constexpr std::size_t kShown = 20;
  using Key = std::tuple<Hazard::Kind, Who, Who, bool>;

  // The first pair of a group, and how many there are.
  struct Group {
    Later later;
    Conflict conflict;
    MemoryAccess access;  // of the later operation
    std::uint64_t count = 1;
  };

  Hazard describe(const Group& group) const;
  void note_possible(const Who& later, const Who& earlier, std::uint32_t buffer);
  std::string place(std::uint16_t device, std::uint16_t stream) const;
  std::string buffer_name(std::uint32_t name) const;
  std::string worded(const Hazard& hazard, const Group& group, const std::string& buffer) const;
  std::string worded_reuse(const Hazard& hazard, const Group& group, const std::string& buffer) const;

  const NameTable& names_;
  const Order& order_;
  std::size_t cards_;
  std::vector<Group> groups_;  // in order of the first pair
  std::map<Key, std::size_t> index_;
  std::vector<std::string> notes_;
  std::set<std::tuple<Who, Who, std::uint32_t>> noted_;  // what was noted: once each
};

}  // namespace labrig::sim
