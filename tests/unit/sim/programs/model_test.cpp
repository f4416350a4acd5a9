// The model itself: programs small enough to be judged by hand, and what the generator must come up with.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "generate.hpp"
#include "judge.hpp"
#include "order.hpp"
#include "sequential.hpp"

namespace labrig::sim::programs {
namespace {

constexpr Range kWhole{0, 0, 8}, kHalf{0, 0, 4}, kOtherHalf{0, 4, 4}, kOdd{0, 1, 4, 2}, kEven{0, 0, 4, 2};
constexpr Range kHost{kArena, 0, 8};

// Streams 0 and 1 are card 0's default stream and a blocking one; 2 and 3 are non-blocking streams of card 0; 4 is the
// default stream of card 1.
Program program_of(std::vector<Command> commands) {
  Program program;
  program.streams = {{0, 0, true}, {0, 1, true}, {0, 2, false}, {0, 3, false}, {1, 0, true}};
  program.events = 4;
  program.commands = std::move(commands);
  return program;
}

Command fill(int stream, Range out) { return {Kind::fill, stream, 0, out, {}, 1}; }
Command copy(int stream, Range out, Range in) { return {Kind::copy_kernel, stream, 0, out, {in}, 0}; }
Command on(Kind kind, int stream, int event = 0) { return {kind, stream, event, {}, {}, 0}; }

std::size_t pairs(std::vector<Command> commands, const std::vector<bool>& answers = {}) {
  return count_of(unordered_pairs(program_of(std::move(commands)), answers));
}

TEST(OrderModel, StreamsAreOrderedWithinAndNotBetween) {
  EXPECT_EQ(pairs({fill(2, kWhole), fill(2, kWhole)}), 0u);
  EXPECT_EQ(pairs({fill(2, kWhole), fill(3, kWhole)}), 1u);
  EXPECT_EQ(pairs({fill(2, kHalf), fill(3, kOtherHalf)}), 0u) << "no byte in common";
  EXPECT_EQ(pairs({fill(2, kEven), fill(3, kOdd)}), 0u) << "no byte in common either";
  EXPECT_EQ(pairs({copy(2, kHalf, kOtherHalf), copy(3, {0, 16, 4}, kOtherHalf)}), 0u) << "both only read them";
  EXPECT_EQ(pairs({fill(2, kWhole), fill(3, kHalf), fill(1, kHalf)}), 3u) << "each with each";
}

TEST(OrderModel, KnowsTheKindsOfConflict) {
  const auto conflict = [](Command first, Command second) {
    const auto found = unordered_pairs(program_of({first, second}));
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Conflict::freed_in_flight : found[0].conflict;
  };
  EXPECT_EQ(conflict(fill(2, kHalf), copy(3, kOtherHalf, kHalf)), Conflict::read_after_write);
  EXPECT_EQ(conflict(copy(2, kOtherHalf, kHalf), fill(3, kHalf)), Conflict::write_after_read);
  EXPECT_EQ(conflict(fill(2, kHalf), fill(3, kHalf)), Conflict::write_after_write);
  const Command download{Kind::copy_down, 2, 0, kHost, {kWhole}, 0}, unpin{Kind::unpin, 0, 0, {kArena, 0, 16}, {}, 1};
  EXPECT_EQ(conflict(download, unpin), Conflict::freed_in_flight);
}

TEST(OrderModel, AnEventOrdersWhatItWasRecordedAfter) {
  const Command a = fill(2, kWhole), b = fill(3, kWhole), record = on(Kind::record, 2), wait = on(Kind::wait, 3);
  EXPECT_EQ(pairs({a, record, wait, b}), 0u);
  EXPECT_EQ(pairs({record, a, wait, b}), 1u) << "recorded too early";
  EXPECT_EQ(pairs({a, wait, record, b}), 1u) << "waited before it was recorded";
  EXPECT_EQ(pairs({a, record, b, wait}), 1u) << "waited too late";
  EXPECT_EQ(pairs({a, record, on(Kind::record, 1), wait, b}), 1u) << "the newest record counts";
  EXPECT_EQ(pairs({a, record, wait, on(Kind::record, 3, 1), on(Kind::wait, 1, 1), fill(1, kWhole)}), 0u)
      << "by way of a stream";
}

TEST(OrderModel, TheDefaultStreamMeetsBlockingStreamsOnly) {
  EXPECT_EQ(pairs({fill(1, kWhole), fill(0, kWhole)}), 0u);
  EXPECT_EQ(pairs({fill(0, kWhole), fill(1, kWhole)}), 0u);
  EXPECT_EQ(pairs({fill(0, kWhole), fill(2, kWhole)}), 1u);
  EXPECT_EQ(pairs({on(Kind::record, 2), fill(2, kWhole), on(Kind::record, 2), on(Kind::wait, 1), fill(0, kWhole)}), 0u)
      << "a wait in a blocking stream is an operation";
  EXPECT_EQ(pairs({fill(1, kWhole), on(Kind::wait, 0), fill(2, kWhole)}), 1u);
  EXPECT_EQ(pairs({fill(1, kWhole), {Kind::copy_peer, 4, 0, kWhole, {{1, 0, 8}}, 0}}), 1u) << "another card's default";
}

TEST(OrderModel, TheHostIsBehindWhatItWaitsFor) {
  const Command a = fill(2, kWhole), b = fill(3, kWhole);
  for (const Kind kind : {Kind::sync_stream, Kind::sync_device, Kind::driver_free, Kind::query_stream}) {
    EXPECT_EQ(pairs({a, on(kind, 2), b}, {true}), 0u);
  }
  EXPECT_EQ(pairs({a, on(Kind::query_stream, 2), b}, {false}), 1u) << "it said: not yet";
  EXPECT_EQ(pairs({a, on(Kind::record, 2), on(Kind::query_event, 2), b}, {true}), 0u);
  EXPECT_EQ(pairs({a, on(Kind::sync_stream, 3), b}), 1u) << "another stream";
  EXPECT_EQ(pairs({a, on(Kind::sync_device, 4), b}), 1u) << "another card";
  EXPECT_EQ(pairs({a, on(Kind::throttle, 2), b}), 1u);
  EXPECT_EQ(pairs({a, {Kind::upload_blocking, 3, 0, {0, 16, 4}, {}, 1}, b}), 1u) << "a copy orders its own stream";
  EXPECT_EQ(pairs({a, {Kind::download, 2, 0, {}, {{0, 16, 4}}, 0}, b}), 0u);
}

TEST(OrderModel, HostAccessesMeetWhatIsInFlight) {
  const Command down{Kind::copy_down, 2, 0, kHost, {kWhole}, 0}, up{Kind::copy_up, 2, 0, kWhole, {kHost}, 0};
  const Command read{Kind::host_read, 0, 0, {}, {kHost}, 0}, write{Kind::host_write, 0, 0, kHost, {}, 1};
  EXPECT_EQ(pairs({down, read}), 1u);
  EXPECT_EQ(pairs({down, on(Kind::sync_stream, 2), read}), 0u);
  EXPECT_EQ(pairs({up, read}), 0u);
  EXPECT_EQ(pairs({up, write}), 1u);
  EXPECT_EQ(pairs({read, write, down, up}), 0u) << "what comes later is behind the host";
}

TEST(SequentialModel, CarriesOutOneAfterTheOther) {
  const Program program = program_of({{Kind::alloc, 0, 0, kWhole, {}, 0},
                                      fill(2, kHalf),
                                      {Kind::add_value, 2, 0, kOtherHalf, {kHalf}, 5},
                                      {Kind::download, 2, 0, {}, {kWhole}, 0}});
  const std::vector<Value> seen = sequential_values(program, {});
  ASSERT_EQ(seen.size(), 8u + kUnits + 8u);
  EXPECT_EQ(seen[3].value, 1);
  EXPECT_EQ(seen[4].value, 6);
  EXPECT_EQ(seen[8].value, arena_start(0));
}

TEST(Shrinker, FindsTheTwoCommandsThatMatter) {
  Program program;
  for (std::uint64_t seed = 1; unordered_pairs(program).empty(); ++seed) program = random_program(seed);
  const Program smallest = shrunk(program, [](const Program& p) { return unordered_pairs(p).empty() ? "" : "race"; });
  std::size_t operations = 0;
  for (const Command& command : smallest.commands) operations += command.kind == Kind::alloc ? 0 : 1;
  EXPECT_EQ(operations, 2u) << to_text(smallest);
}

TEST(Generator, ComesUpWithEveryCommandAndEveryConflict) {
  std::map<Kind, int> kinds;
  std::map<Conflict, int> conflicts;
  int racy = 0;
  constexpr int kPrograms = 1000;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const Program program = random_program(seed);
    std::size_t besides_blocks = 0;
    for (const Command& command : program.commands) {
      ++kinds[command.kind];
      besides_blocks += command.kind == Kind::alloc ? 0 : 1;
    }
    EXPECT_LE(besides_blocks, 40u);
    const auto found = unordered_pairs(program);
    racy += found.empty() ? 0 : 1;
    for (const Pair& pair : found) ++conflicts[pair.conflict];
    const Program mended = with_missing_waits(program, seed);
    EXPECT_GE(mended.commands.size(), program.commands.size());
    EXPECT_TRUE(unordered_pairs(mended).empty());
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(Kind::noise) + 1);
  for (const auto& [kind, count] : kinds) EXPECT_GE(count, 20) << static_cast<int>(kind);
  EXPECT_EQ(conflicts.size(), 4u);
  for (const auto& [conflict, count] : conflicts) EXPECT_GE(count, 20) << static_cast<int>(conflict);
  EXPECT_GT(racy, kPrograms / 4);
  EXPECT_LT(racy, kPrograms);
}

}  // namespace
}  // namespace labrig::sim::programs
