// Blocks that more than one stream uses, and expandable segments.
#include <gtest/gtest.h>

#include "allocator_fixture.hpp"
#include "expect_error.hpp"

namespace labrig {
namespace {

using test::count;
using test::kMiB;
using Fixture = test::AllocatorFixture;

TEST(RecordStream, KeepsAFreedBlockActiveUntilTheOtherStreamIsDone) {
  Fixture memory;
  Block* block = memory.take(4 * kMiB);
  std::byte* const address = block->address;
  memory.allocator.record_stream(block, 3);
  memory.allocator.record_stream(block, 3);
  EXPECT_TRUE(memory.driver.recorded.empty()) << "the event is recorded at the time of the free";
  memory.give(block);
  ASSERT_EQ(memory.driver.recorded.size(), 1u);
  EXPECT_EQ(memory.driver.recorded[0].second, 3);
  EXPECT_EQ(memory.allocated(), 0);
  EXPECT_EQ(memory.statistic("active_bytes.all.current"), count(4 * kMiB));
  EXPECT_EQ(memory.statistic("requested_bytes.all.current"), count(4 * kMiB));
  EXPECT_EQ(memory.statistic("inactive_split.all.current"), 1);
  EXPECT_NE(memory.take(4 * kMiB)->address, address);

  memory.driver.done.insert(memory.driver.recorded[0].first);
  EXPECT_EQ(memory.statistic("active.all.current"), 2) << "nothing looks before the next request";
  EXPECT_EQ(memory.take(4 * kMiB)->address, address);
  EXPECT_EQ(memory.driver.released.size(), 1u);
}

TEST(RecordStream, IgnoresTheStreamOfTheAllocation) {
  Fixture memory;
  Block* block = memory.take(4 * kMiB, 2);
  memory.allocator.record_stream(block, 2);
  memory.give(block);
  EXPECT_TRUE(memory.driver.recorded.empty());
  EXPECT_EQ(memory.statistic("active.all.current"), 0);
}

TEST(RecordStream, WaitsForEveryStreamAndLetsASlowOneHoldBackNobodyElse) {
  Fixture memory;
  Block *slow = memory.take(512), *fast = memory.take(512), *both = memory.take(512);
  memory.allocator.record_stream(slow, 1);
  memory.allocator.record_stream(fast, 2);
  memory.allocator.record_stream(both, 1);
  memory.allocator.record_stream(both, 2);
  for (Block* block : {slow, fast, both}) memory.give(block);
  for (const auto& [event, stream] : memory.driver.recorded) {
    if (stream == 2) memory.driver.done.insert(event);
  }
  memory.take(512);  // looks, and takes the fast one's place
  EXPECT_EQ(memory.statistic("active.all.current"), 3);
  for (const auto& [event, stream] : memory.driver.recorded) memory.driver.done.insert(event);
  memory.take(512);
  EXPECT_EQ(memory.statistic("active.all.current"), 2);
}

TEST(RecordStream, DoesNotMergeWithABlockThatIsStillAwaited) {
  Fixture memory;
  Block *first = memory.take(kMiB), *second = memory.take(kMiB);
  memory.allocator.record_stream(first, 1);
  memory.give(first);
  memory.give(second);
  EXPECT_EQ(memory.statistic("inactive_split_bytes.all.current"), count(kMiB));
}

TEST(RecordStream, IsWaitedForBeforeTheCacheIsGivenBack) {
  Fixture memory(32 * kMiB);
  Block* block = memory.take(20 * kMiB);
  memory.allocator.record_stream(block, 1);
  memory.give(block);
  memory.take(30 * kMiB);
  EXPECT_EQ(memory.driver.waited.size(), 1u);
  EXPECT_EQ(memory.statistic("num_sync_all_streams"), 1);
  EXPECT_EQ(memory.statistic("num_alloc_retries"), 1);
}

TEST(CachingAllocator, TakesSixteenGiBForTwoBuffersOnFreshStreamsEightTimes) {
  Fixture memory;
  for (std::uint16_t round = 0; round < 8; ++round) {
    Block* one = memory.take(1024 * kMiB, static_cast<std::uint16_t>(2 * round + 1));
    Block* two = memory.take(1024 * kMiB, static_cast<std::uint16_t>(2 * round + 2));
    memory.give(one);
    memory.give(two);
  }
  EXPECT_EQ(memory.reserved(), count(16 * 1024 * kMiB));
}

// --- expandable segments
// -----------------------------------------------------------------------------------------------

constexpr const char* kExpandable = "expandable_segments:True";

TEST(ExpandableSegments, MapOneHundredAndFortyMiBWhereSegmentsTakeTwoHundredAndFiftySix) {
  Fixture memory(test::kManyBytes, kExpandable, true);
  std::vector<Block*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(memory.take(16 * kMiB));
  EXPECT_EQ(memory.reserved(), count(140 * kMiB));
  for (Block* block : blocks) memory.give(block);
  for (int i = 0; i < 4; ++i) memory.take(32 * kMiB);
  EXPECT_EQ(memory.reserved(), count(140 * kMiB)) << "all free blocks of a range merge";
  EXPECT_EQ(memory.statistic("inactive_split.all.allocated"), 0);
  EXPECT_EQ(memory.statistic("segment.all.allocated"), 0);
  EXPECT_EQ(memory.driver.ranges(), 1u);
}

TEST(ExpandableSegments, GrowAFreeEndByThePagesThatAreMissing) {
  Fixture memory(test::kManyBytes, kExpandable, true);
  Block* first = memory.take(30 * kMiB);  // 40 mapped
  Block* second = memory.take(25 * kMiB);
  EXPECT_EQ(second->address, first->address + 30 * kMiB);
  EXPECT_EQ(memory.reserved(), count(60 * kMiB));
  EXPECT_EQ(memory.statistic("num_device_alloc"), 2);
}

TEST(ExpandableSegments, HaveARangeForEachStreamAndPool) {
  Fixture memory(test::kManyBytes, kExpandable, true);
  memory.take(512);
  memory.take(2 * kMiB);
  memory.take(2 * kMiB, 1);
  EXPECT_EQ(memory.driver.ranges(), 3u);
  EXPECT_EQ(memory.reserved(), count((2 + 20 + 20) * kMiB));
  EXPECT_EQ(memory.statistic("reserved_bytes.small_pool.current"), count(2 * kMiB));
}

TEST(ExpandableSegments, GiveWholePagesBackAndKeepThoseThatAreSharedWithTensors) {
  Fixture memory(test::kManyBytes, kExpandable, true);
  Block* before = memory.take(10 * kMiB);
  Block* large = memory.take(70 * kMiB);
  Block* after = memory.take(10 * kMiB);
  EXPECT_EQ(memory.reserved(), count(100 * kMiB));
  memory.give(large);
  memory.allocator.empty_cache();  // pages 1 to 3 of 0 to 4
  EXPECT_EQ(memory.reserved(), count(40 * kMiB));
  EXPECT_EQ(memory.driver.used_bytes(), 40 * kMiB);
  std::byte* const start = before->address;
  EXPECT_EQ(memory.take(65 * kMiB)->address, start + 10 * kMiB) << "the lowest addresses are mapped again";
  memory.give(before);
  memory.give(after);
}

TEST(ExpandableSegments, GiveTheRangeBackWhenNothingOfItIsUsed) {
  Fixture memory(test::kManyBytes, kExpandable, true);
  memory.give(memory.take(70 * kMiB));
  memory.allocator.empty_cache();
  EXPECT_EQ(memory.reserved(), 0);
  EXPECT_EQ(memory.driver.ranges(), 0u);
  EXPECT_EQ(memory.driver.used_bytes(), 0u);
  EXPECT_EQ(memory.statistic("num_device_free"), 1);
}

TEST(ExpandableSegments, SaveTheCardThatSegmentsOfOneFixedSizeFragment) {
  Fixture memory(100 * kMiB, kExpandable, true);
  memory.give(memory.take(64 * kMiB));
  memory.take(16 * kMiB);
  memory.take(64 * kMiB);
  EXPECT_EQ(memory.reserved(), count(80 * kMiB));
}

TEST(ExpandableSegments, GiveWayToSegmentsWhereNoAddressesAreLeft) {
  Fixture memory(test::kManyBytes, kExpandable, true);
  memory.driver.most_ranges = 1;
  memory.take(2 * kMiB);
  EXPECT_EQ(memory.take(2 * kMiB, 1)->expandable, nullptr);
  EXPECT_EQ(memory.statistic("segment.all.current"), 1);
  EXPECT_EQ(memory.reserved(), count(40 * kMiB));
  EXPECT_NE(memory.take(30 * kMiB)->expandable, nullptr) << "the range that there is still grows";
}

TEST(ExpandableSegments, RunOutOfMemoryAndStayUsable) {
  Fixture memory(64 * kMiB, kExpandable, true);
  Block* block = memory.take(30 * kMiB);
  test::error_of([&] { memory.take(50 * kMiB); });
  EXPECT_EQ(memory.statistic("num_ooms"), 1);
  memory.give(block);
  EXPECT_EQ(memory.take(50 * kMiB)->bytes, 50 * kMiB);
}

TEST(ExpandableSegments, AreLeftOutWithPyTorchsWarningWhereTheDriverHasNoPages) {
  Fixture memory(test::kManyBytes, kExpandable, false);
  memory.take(16 * kMiB);
  EXPECT_EQ(memory.statistic("segment.all.current"), 1);
  EXPECT_EQ(memory.allocator.warnings(),
            (std::vector<std::string>{"expandable_segments not supported on this platform"}));
  EXPECT_FALSE(memory.allocator.settings().expandable_segments);
}

}  // namespace
}  // namespace labrig
