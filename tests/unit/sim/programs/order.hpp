// The order of a program by rules 1-3 of S6, written down as a relation between two commands and closed by brute force,
// and the pairs of accesses that it leaves unordered. No clocks, no shadow memory: this is what the card's ledger must
// agree with.
#pragma once

#include <vector>

#include "program.hpp"

namespace labrig::sim::programs {

enum class Conflict : std::uint8_t { read_after_write, write_after_read, write_after_write, freed_in_flight };

struct Pair {
  std::size_t earlier = 0, later = 0;  // commands
  Conflict conflict{};
  Masks units{};
};

// Every pair of an operation and a later operation or host access that touch the same units, of which one writes, and
// that nothing orders. An operation that reads and writes what another one writes makes two of the kinds.
// `answers`: of each query, in order, whether it said "done"; where they are not given none did.
std::vector<Pair> unordered_pairs(const Program& program, const std::vector<bool>& answers = {});

// For each command the moment at which its effect is carried out in late mode: within the first command that lets the
// host be ordered after it or makes the card carry out everything (a throttle; memory of the driver that is given
// back): twice the number of that command; or by the throttle that follows a command: one more. At the end where that
// is none.
std::vector<std::size_t> carried_out_at(const Program& program, const std::vector<bool>& answers);

// How many pairs of commands they are, whatever the kinds.
std::size_t count_of(const std::vector<Pair>& pairs);

// The program with waits put in until no pair is unordered, whatever the queries answer. `seed` chooses among the ways.
Program with_missing_waits(const Program& program, std::uint64_t seed);

}  // namespace labrig::sim::programs
