// What the allocator says: the table, the snapshot and the out-of-memory error with its verdict.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "allocator_fixture.hpp"
#include "expect_error.hpp"
#include "memory/out_of_memory.hpp"
#include "memory/summary.hpp"

namespace labrig {
namespace {

using test::count;
using test::kKiB;
using test::kMiB;
using Fixture = test::AllocatorFixture;
using nlohmann::json;

// Leads a pool through increases and decreases to these figures.
void play(PoolStatistic& statistic, bool small, std::int64_t current, std::int64_t peak, std::int64_t allocated) {
  if (peak == current) return statistic.increase(small, peak);
  const auto up_and_down = [&](std::int64_t amount) {
    statistic.increase(small, amount);
    statistic.decrease(small, amount);
  };
  up_and_down(peak);
  for (std::int64_t left = allocated - peak - current; left > 0; left -= peak) up_and_down(std::min(left, peak));
  statistic.increase(small, current);
}

// The figures of the recorded table; half a KiB where its sums show one.
AllocatorStatistics recorded_statistics() {
  constexpr std::int64_t kK = 1024, kHalf = 512;
  AllocatorStatistics s;
  for (PoolStatistic* bytes : {&s.allocated_bytes, &s.active_bytes}) {
    play(*bytes, true, 512, 1024 * kK, 1030 * kK + 512);
    play(*bytes, false, 0, 22528 * kK, 78849 * kK);
  }
  play(s.requested_bytes, true, 24, 1024 * kK, 1024 * kK + 24);
  play(s.requested_bytes, false, 0, 21504 * kK, 77312 * kK);
  play(s.reserved_bytes, true, 2048 * kK, 2048 * kK, 2048 * kK);
  play(s.reserved_bytes, false, 0, 22528 * kK, 106496 * kK);
  s.inactive_split_bytes.increase(true, 1030 * kK);
  s.inactive_split_bytes.decrease(true, 1030 * kK);
  s.inactive_split_bytes.increase(true, 2047 * kK + kHalf);
  play(s.inactive_split_bytes, false, 0, 19455 * kK + kHalf, 50175 * kK);
  for (PoolStatistic* blocks : {&s.allocation, &s.active}) {
    play(*blocks, true, 1, 3, 13);
    play(*blocks, false, 0, 1, 7);
  }
  play(s.segment, true, 1, 1, 1);
  play(s.segment, false, 0, 1, 6);
  play(s.inactive_split, true, 1, 2, 3);
  play(s.inactive_split, false, 0, 1, 4);
  s.num_ooms = s.num_alloc_retries = 1;
  return s;
}

TEST(MemorySummary, IsPyTorchsTableToTheByte) {
  std::ifstream file(LABRIG_TEST_GOLDEN "/memory_summary.txt");
  const std::string both{std::istreambuf_iterator<char>(file), {}};
  const std::size_t between = both.find("\n\n");
  ASSERT_NE(between, std::string::npos);
  const AllocatorStatistics statistics = recorded_statistics();
  EXPECT_EQ(summary_of(statistics, 0, false), both.substr(0, between + 1));
  EXPECT_EQ(summary_of(statistics, 0, true), both.substr(between + 2));
}

TEST(MemorySummary, GivesAColumnTheUnitOfItsFirstRow) {
  AllocatorStatistics statistics;
  statistics.allocated_bytes.increase(false, std::int64_t{768} << 20);
  statistics.allocated_bytes.increase(true, 1000);
  statistics.allocation.increase(true, 750000);
  const std::string text = summary_of(statistics, 12, false);
  EXPECT_NE(text.find("memory summary, device ID 12                |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| Allocated memory      |    768 MiB |    768 MiB |    768 MiB |      0 B   |\n"),
            std::string::npos);
  EXPECT_NE(text.find("|       from small pool |      0 MiB |      0 MiB |      0 MiB |      0 B   |\n"),
            std::string::npos);
  EXPECT_NE(text.find("| Allocations           |     750 K  |     750 K  |     750 K  |       0    |\n"),
            std::string::npos);
}

TEST(AllocatorStatistics, HaveANestedFormToo) {
  const json nested = json::parse(nested_json(recorded_statistics()));
  EXPECT_EQ(nested["allocated_bytes"]["small_pool"]["current"], 512);
  EXPECT_EQ(nested["oversize_segments"]["peak"], 0);
  EXPECT_EQ(nested["num_ooms"], 1);
}

TEST(AllocatorStatistics, ForgetSumsAndCountersButNotPeaks) {
  Fixture memory(32 * kMiB);
  memory.give(memory.take(20 * kMiB));
  test::error_of([&] { memory.take(40 * kMiB); });
  memory.take(512);
  memory.allocator.reset_accumulated();
  for (const char* key : {"num_ooms", "num_alloc_retries", "num_device_alloc", "num_device_free",
                          "num_sync_all_streams", "allocated_bytes.all.allocated", "reserved_bytes.large_pool.freed"}) {
    EXPECT_EQ(memory.statistic(key), 0) << key;
  }
  EXPECT_EQ(memory.statistic("allocated_bytes.all.peak"), count(20 * kMiB));
  EXPECT_EQ(memory.statistic("allocated_bytes.all.current"), 512);
}

// --- snapshot
// ------------------------------------------------------------------------------------------------------------

TEST(MemorySnapshot, ShowsSegmentsAndBlocksInPyTorchsSchema) {
  Fixture memory(test::kManyBytes, "max_split_size_mb:64,roundup_power2_divisions:4");
  Block *kept = memory.take(3 * kMiB), *awaited = memory.take(2 * kMiB);
  memory.take(100);
  memory.allocator.record_stream(awaited, 5);
  memory.give(awaited);
  const json all = json::parse(to_json(memory.allocator.snapshot()));
  ASSERT_EQ(all["segments"].size(), 2u);
  const json& segment = all["segments"][0];
  const auto address = reinterpret_cast<std::uintptr_t>(kept->address);
  EXPECT_EQ(segment["address"], address);
  EXPECT_EQ(segment["total_size"], 20 * kMiB);
  EXPECT_EQ(segment["allocated_size"], 3 * kMiB);
  EXPECT_EQ(segment["active_size"], 5 * kMiB);
  EXPECT_EQ(segment["requested_size"], 5 * kMiB);
  EXPECT_EQ(segment["segment_type"], "large");
  EXPECT_EQ(segment["segment_pool_id"], json({0, 0}));
  EXPECT_EQ(segment["is_expandable"], false);
  EXPECT_EQ(segment["device"], 0);
  EXPECT_EQ(segment["stream"], 0);
  const json expected = {{{"address", address},
                          {"size", 3 * kMiB},
                          {"requested_size", 3 * kMiB},
                          {"state", "active_allocated"},
                          {"frames", json::array()}},
                         {{"address", address + 3 * kMiB},
                          {"size", 2 * kMiB},
                          {"requested_size", 2 * kMiB},
                          {"state", "active_awaiting_free"},
                          {"frames", json::array()}},
                         {{"address", address + 5 * kMiB},
                          {"size", 15 * kMiB},
                          {"requested_size", 0},
                          {"state", "inactive"},
                          {"frames", json::array()}}};
  EXPECT_EQ(segment["blocks"], expected);
  EXPECT_EQ(all["segments"][1]["segment_type"], "small");
  EXPECT_EQ(all["allocator_settings"]["max_split_size"], 64 * kMiB);
  EXPECT_EQ(all["allocator_settings"]["roundup_power2_divisions"]["32768"], 4);
  EXPECT_EQ(all["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"], "max_split_size_mb:64,roundup_power2_divisions:4");
  EXPECT_EQ(all["device_traces"], json::array({json::array()}));
}

TEST(MemorySnapshot, ReportsAnExpandableSegmentOnceForEachMappedRange) {
  Fixture memory(test::kManyBytes, "expandable_segments:True", true);
  memory.take(20 * kMiB);
  Block* middle = memory.take(20 * kMiB);
  memory.take(20 * kMiB);
  memory.give(middle);
  memory.allocator.empty_cache();
  const json all = json::parse(to_json(memory.allocator.snapshot()));
  ASSERT_EQ(all["segments"].size(), 2u);
  for (const json& segment : all["segments"]) {
    EXPECT_EQ(segment["total_size"], 20 * kMiB);
    EXPECT_EQ(segment["is_expandable"], true);
  }
}

std::vector<std::string> actions(const json& snapshot) {
  std::vector<std::string> result;
  for (const json& event : snapshot["device_traces"][0]) result.push_back(event["action"]);
  return result;
}

TEST(AllocatorHistory, TellsWhatHappenedInItsOrder) {
  Fixture memory(32 * kMiB);
  memory.give(memory.take(2 * kMiB));
  EXPECT_TRUE(actions(json::parse(to_json(memory.allocator.snapshot()))).empty());
  memory.allocator.record_history(100);
  memory.give(memory.take(3 * kMiB));
  test::error_of([&] { memory.take(40 * kMiB, 7); });
  const json all = json::parse(to_json(memory.allocator.snapshot()));
  EXPECT_EQ(actions(all),
            (std::vector<std::string>{"alloc", "free_requested", "free_completed", "segment_free", "oom", "snapshot"}));
  const json& trace = all["device_traces"][0];
  EXPECT_EQ(trace[0]["size"], 3 * kMiB);
  EXPECT_EQ(trace[0]["time_us"], 0);
  EXPECT_EQ(trace[3]["size"], 20 * kMiB);
  EXPECT_EQ(trace[4]["device_free"], 32 * kMiB);
  EXPECT_FALSE(trace[4].contains("addr"));
  EXPECT_EQ(trace[4]["size"], 40 * kMiB);
  EXPECT_EQ(trace[4]["stream"], 7);
}

TEST(AllocatorHistory, KeepsTheLastEventsOnly) {
  Fixture memory;
  memory.allocator.record_history(4);
  memory.take(512);
  memory.take(1024);
  for (int i = 0; i < 3; ++i) memory.take(2048);
  const json trace = json::parse(to_json(memory.allocator.snapshot()))["device_traces"][0];
  ASSERT_EQ(trace.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(trace[static_cast<std::size_t>(i)]["time_us"], i + 3);
  EXPECT_EQ(trace[3]["action"], "snapshot");
}

TEST(AllocatorHistory, NamesPagesOfExpandableSegments) {
  Fixture memory(test::kManyBytes, "expandable_segments:True", true);
  memory.allocator.record_history(100);
  memory.give(memory.take(25 * kMiB));
  memory.allocator.empty_cache();
  const json all = json::parse(to_json(memory.allocator.snapshot()));
  EXPECT_EQ(actions(all), (std::vector<std::string>{"segment_map", "alloc", "free_requested", "free_completed",
                                                    "segment_unmap", "snapshot"}));
  EXPECT_EQ(all["device_traces"][0][0]["size"], 40 * kMiB);
}

// --- out of memory
// -------------------------------------------------------------------------------------------------------

OutOfMemoryError oom_of(Fixture& memory, std::size_t bytes) {
  try {
    memory.take(bytes);
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.why().rfind(std::string(name_of(error.verdict())) + ": ", 0), 0u) << error.why();
    return error;
  }
  ADD_FAILURE() << "there was memory";
  return OutOfMemoryError({});
}

TEST(OutOfMemory, CarriesItsNumbers) {
  Fixture memory(100 * kMiB);
  memory.give(memory.take(30 * kMiB));
  memory.take(9 * kMiB);
  const OutOfMemoryError error = oom_of(memory, 80 * kMiB - 100);
  const OutOfMemory& facts = error.facts();
  EXPECT_EQ(facts.requested_bytes, 80 * kMiB - 100);
  EXPECT_EQ(facts.rounded_bytes, 80 * kMiB);
  EXPECT_EQ(facts.segment_bytes, 80 * kMiB);
  EXPECT_EQ(facts.allocated_bytes, 9 * kMiB);
  EXPECT_EQ(facts.reserved_bytes, 30 * kMiB);
  EXPECT_EQ(facts.largest_free_block_bytes, 21 * kMiB);
  EXPECT_EQ(facts.card.free_bytes, 70 * kMiB);
  EXPECT_FALSE(facts.limit_bytes);
}

TEST(OutOfMemory, ListsTheProcessesThatTheDriverKnows) {
  Fixture memory(100 * kMiB);
  memory.driver.others = {{4711, 60 * kMiB, false}};
  memory.take(30 * kMiB);
  const OutOfMemoryError error = oom_of(memory, 30 * kMiB);
  EXPECT_NE(std::string(error.what())
                .find("of which 10.00 MiB is free. Process 4711 has 60.00 MiB memory in use. Including non-PyTorch "
                      "memory, this process has 30.00 MiB memory in use. Of the allocated"),
            std::string::npos)
      << error.what();
  EXPECT_EQ(error.verdict(), OutOfMemoryVerdict::shared);
  EXPECT_NE(error.why().find("60.00 MiB of the card are used outside this allocator"), std::string::npos);
}

TEST(OutOfMemory, SaysWhatKindOfShortageItIs) {
  Fixture full(100 * kMiB);
  full.take(90 * kMiB);
  EXPECT_EQ(oom_of(full, 30 * kMiB).verdict(), OutOfMemoryVerdict::capacity);
  EXPECT_EQ(oom_of(full, 300 * kMiB).verdict(), OutOfMemoryVerdict::capacity);
  EXPECT_NE(oom_of(full, 300 * kMiB).fix().find("never fit"), std::string::npos);

  Fixture pieces(64 * kMiB);
  pieces.give(pieces.take(64 * kMiB));
  pieces.take(16 * kMiB);
  EXPECT_EQ(oom_of(pieces, 48 * kMiB + 1).verdict(), OutOfMemoryVerdict::capacity);
  Block* second = pieces.take(16 * kMiB);
  pieces.take(16 * kMiB);
  pieces.give(second);
  EXPECT_EQ(oom_of(pieces, 30 * kMiB).verdict(), OutOfMemoryVerdict::fragmentation);

  Fixture limited(100 * kMiB);
  limited.allocator.set_limit(40 * kMiB);
  limited.take(30 * kMiB);
  EXPECT_EQ(oom_of(limited, 20 * kMiB).verdict(), OutOfMemoryVerdict::limit);

  Fixture refusing(100 * kMiB);
  refusing.driver.refuses = true;
  EXPECT_EQ(oom_of(refusing, 20 * kMiB).verdict(), OutOfMemoryVerdict::refused);

  Fixture mistaken;
  const OutOfMemoryError overflow = oom_of(mistaken, ~std::size_t{0} - 51 * kMiB);
  EXPECT_EQ(overflow.verdict(), OutOfMemoryVerdict::overflow);
  EXPECT_EQ(std::string(overflow.what()).find("CUDA out of memory. Tried to allocate 17179869183.95 GiB."), 0u)
      << overflow.what();
}

TEST(OutOfMemory, TellsItsObserversAndAsksItsCallbacksFirst) {
  Fixture memory(64 * kMiB);
  Block* spare = memory.take(40 * kMiB);
  std::vector<std::size_t> seen;
  memory.allocator.add_out_of_memory_observer([&](const OutOfMemory& facts) { seen.push_back(facts.segment_bytes); });
  memory.allocator.add_free_memory_callback([&] {
    if (!spare) return false;
    memory.give(spare);
    spare = nullptr;
    return true;
  });
  EXPECT_EQ(memory.take(40 * kMiB)->bytes, 40 * kMiB) << "what the callback freed is found in the cache";
  EXPECT_TRUE(seen.empty());
  oom_of(memory, 42 * kMiB + 1);
  EXPECT_EQ(seen, (std::vector<std::size_t>{44 * kMiB}));
}

}  // namespace
}  // namespace labrig
