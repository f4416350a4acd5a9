// Random programs: whatever they do, the statistics are what the snapshot adds up to, blocks tile their segments, and
// no two of them that are in use overlap.
#include <gtest/gtest.h>

#include <random>

#include "allocator_fixture.hpp"
#include "labrig/error.hpp"

namespace labrig {
namespace {

using test::count;
using test::kMiB;
using Fixture = test::AllocatorFixture;

struct Sums {
  std::int64_t reserved = 0, allocated = 0, active = 0, requested = 0, pieces = 0, piece_bytes = 0;
};

Sums sums_of(const MemorySnapshot& snapshot) {
  Sums sums;
  std::uint64_t end_of_last = 0;
  for (const auto& segment : snapshot.segments) {
    EXPECT_GE(segment.address, end_of_last);
    end_of_last = segment.address + segment.bytes;
    std::uint64_t address = segment.address;
    bool last_was_free = false;
    for (const auto& block : segment.blocks) {
      EXPECT_EQ(block.address, address) << "a gap between two blocks";
      EXPECT_FALSE(last_was_free && !block.active) << "two free neighbours that were not merged";
      last_was_free = !block.active;
      address += block.bytes;
      if (block.allocated) sums.allocated += count(block.bytes);
      if (block.active) sums.active += count(block.bytes), sums.requested += count(block.requested_bytes);
      if (!block.active && segment.blocks.size() > 1 && !segment.expandable) {
        ++sums.pieces;
        sums.piece_bytes += count(block.bytes);
      }
    }
    EXPECT_EQ(address, end_of_last);
    sums.reserved += count(segment.bytes);
  }
  return sums;
}

class Program {
 public:
  Program(std::uint32_t seed, const char* settings) : random_(seed), memory_(700 * kMiB, settings, true) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
      if (i % 8 == 0) check();
    }
    for (Block* block : live_) memory_.give(block);
    live_.clear();
    for (const auto& [event, stream] : memory_.driver.recorded) memory_.driver.done.insert(event);
    memory_.allocator.empty_cache();
    check();
    EXPECT_EQ(memory_.reserved(), 0);
    EXPECT_EQ(memory_.driver.used_bytes(), 0u);
    EXPECT_EQ(memory_.driver.ranges(), 0u);
    EXPECT_EQ(memory_.driver.released.size(), memory_.driver.recorded.size());
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  void step() {
    const std::uint32_t what = below(100);
    if (what < 50) {
      allocate();
    } else if (what < 90 && !live_.empty()) {
      const std::size_t which = below(static_cast<std::uint32_t>(live_.size()));
      std::swap(live_[which], live_.back());
      memory_.give(live_.back());
      live_.pop_back();
    } else if (what < 96 && !live_.empty()) {
      memory_.allocator.record_stream(live_[below(static_cast<std::uint32_t>(live_.size()))],
                                      static_cast<std::uint16_t>(below(3)));
    } else if (what < 98) {
      for (const auto& [event, stream] : memory_.driver.recorded) memory_.driver.done.insert(event);
    } else {
      memory_.allocator.empty_cache();
    }
  }

  void allocate() {
    static constexpr std::size_t kLargest[] = {2000, kMiB, 12 * kMiB, 90 * kMiB};
    const std::size_t bytes = 1 + random_() % kLargest[below(4)];
    try {
      Block* block = memory_.take(bytes, static_cast<std::uint16_t>(below(3)));
      EXPECT_GE(block->bytes, bytes);
      live_.push_back(block);
    } catch (const Error&) {  // full; the allocator must stay right
    }
  }

  void check() {
    const Sums sums = sums_of(memory_.allocator.snapshot());
    EXPECT_EQ(memory_.reserved(), sums.reserved);
    EXPECT_EQ(count(memory_.driver.used_bytes()), sums.reserved);
    EXPECT_EQ(memory_.allocated(), sums.allocated);
    EXPECT_EQ(memory_.statistic("active_bytes.all.current"), sums.active);
    EXPECT_EQ(memory_.statistic("requested_bytes.all.current"), sums.requested);
    EXPECT_EQ(memory_.statistic("inactive_split.all.current"), sums.pieces);
    EXPECT_EQ(memory_.statistic("inactive_split_bytes.all.current"), sums.piece_bytes);
    EXPECT_EQ(memory_.statistic("allocation.all.current"), count(live_.size()));
  }

  std::mt19937 random_;
  Fixture memory_;
  std::vector<Block*> live_;
};

TEST(RandomAllocations, KeepStatisticsAndSegmentsInOrder) {
  const char* const settings[] = {"",
                                  "max_split_size_mb:40",
                                  "roundup_power2_divisions:4",
                                  "garbage_collection_threshold:0.6,per_process_memory_fraction:0.7",
                                  "expandable_segments:True",
                                  "expandable_segments:True,max_split_size_mb:40,per_process_memory_fraction:0.5"};
  for (const char* text : settings) {
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      Program(seed, text).run(400);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace labrig
