// The rules of PyTorch's allocator of pinned memory, with a driver that pins nothing.
#include "memory/host_allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "fake_host_driver.hpp"

namespace labrig {
namespace {

using test::error_of;
using test::FakeHostDriver;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

struct HostAllocatorTest : testing::Test {
  FakeHostDriver driver;
  HostAllocator allocator{driver, "sim:0"};

  std::int64_t block_bytes(std::int64_t requested) const {
    return static_cast<std::int64_t>(allocator.block_bytes(static_cast<std::size_t>(requested)));
  }
  std::int64_t stat(const std::string& key) const { return allocator.statistics().flatten().at(key); }
};

TEST_F(HostAllocatorTest, RoundsToPowersOfTwoWithTheWasteOfThePublicReports) {
  EXPECT_EQ(block_bytes(1), 1);
  EXPECT_EQ(block_bytes(kMiB), kMiB);
  EXPECT_EQ(block_bytes(kMiB + 1), 2 * kMiB);
  allocator.allocate(129 * kMiB + kMiB / 2, "");
  EXPECT_EQ(stat("active_bytes.current"), 256 * kMiB);
  EXPECT_EQ(stat("requested_bytes.current"), 129 * kMiB + kMiB / 2);
  allocator.allocate(5 * kGiB, "");
  EXPECT_EQ(stat("active_bytes.current"), 256 * kMiB + 8 * kGiB);
  allocator.allocate(kGiB / 10 * 204, "");  // 20.4 GiB
  EXPECT_EQ(stat("active_bytes.current"), 256 * kMiB + 40 * kGiB);
  EXPECT_EQ(stat("allocated_bytes.current"), 256 * kMiB + 40 * kGiB);
  EXPECT_EQ(driver.held(), 256 * kMiB + 40 * kGiB);
}

TEST_F(HostAllocatorTest, GivesNothingForZeroBytes) {
  EXPECT_EQ(allocator.allocate(0, ""), nullptr);
  allocator.free(nullptr);
  EXPECT_EQ(stat("num_host_alloc"), 0);
  EXPECT_EQ(stat("active_requests.allocated"), 0);
}

TEST_F(HostAllocatorTest, KeepsAFreedBlockForTheNextRequestOfItsPower) {
  void* first = allocator.allocate(1000, "");
  allocator.free(first);
  EXPECT_EQ(allocator.allocate(600, ""), first);
  EXPECT_EQ(stat("num_host_alloc"), 1);
  EXPECT_EQ(stat("active_requests.allocated"), 2);
  EXPECT_EQ(stat("active_requests.freed"), 1);
  EXPECT_EQ(stat("requested_bytes.current"), 600);
}

TEST_F(HostAllocatorTest, NeverSplitsALargerBlock) {
  void* large = allocator.allocate(4096, "");
  allocator.free(large);
  EXPECT_NE(allocator.allocate(2048, ""), large);
  EXPECT_EQ(stat("num_host_alloc"), 2);
}

TEST_F(HostAllocatorTest, TakesTheBlockThatWasFreedLast) {
  void* a = allocator.allocate(512, "");
  void* b = allocator.allocate(512, "");
  allocator.free(b);
  allocator.free(a);
  EXPECT_EQ(allocator.allocate(512, ""), a);
  EXPECT_EQ(allocator.allocate(512, ""), b);
}

TEST_F(HostAllocatorTest, WaitsForTheStreamsThatUsedABlock) {
  void* block = allocator.allocate(512, "");
  EXPECT_TRUE(allocator.record_use(block, {0, 3}));
  EXPECT_TRUE(allocator.record_use(block, {1, 3}));
  EXPECT_TRUE(allocator.record_use(block, {0, 3}));
  EXPECT_TRUE(driver.recorded.empty());  // events are recorded at the free, not before
  allocator.free(block);
  EXPECT_EQ(driver.recorded, (std::vector<HostStream>{{0, 3}, {1, 3}}));
  EXPECT_EQ(stat("active_requests.current"), 1);
  EXPECT_EQ(stat("requested_bytes.current"), 0);
  driver.reached = {1};
  EXPECT_NE(allocator.allocate(512, ""), block);
  driver.reached = {1, 2};
  EXPECT_EQ(allocator.allocate(512, ""), block);
  EXPECT_EQ(stat("active_requests.current"), 2);
  EXPECT_TRUE(driver.events.empty());
}

TEST_F(HostAllocatorTest, ForgetsTheStreamsOfItsFormerHolder) {
  void* block = allocator.allocate(512, "");
  allocator.record_use(block, {0, 0});
  allocator.free(block);
  driver.reached = {1};
  ASSERT_EQ(allocator.allocate(512, ""), block);
  allocator.free(block);
  EXPECT_EQ(driver.recorded.size(), 1u);
  EXPECT_EQ(allocator.allocate(512, ""), block);
}

TEST_F(HostAllocatorTest, PollsUpToTheFirstEventThatIsNotReached) {
  void* slow = allocator.allocate(512, "");
  void* fast = allocator.allocate(512, "");
  for (void* block : {slow, fast}) {
    allocator.record_use(block, {0, 0});
    allocator.free(block);
  }
  driver.reached = {2};
  EXPECT_NE(allocator.allocate(512, ""), fast);
  EXPECT_EQ(driver.queries, 1);
  driver.reached = {1, 2};
  EXPECT_EQ(allocator.allocate(512, ""), fast);
  EXPECT_EQ(driver.queries, 3);
}

TEST_F(HostAllocatorTest, IgnoresUsesOfMemoryThatIsNotABlockInUse) {
  auto* block = static_cast<std::byte*>(allocator.allocate(512, ""));
  int foreign = 0;
  EXPECT_FALSE(allocator.record_use(&foreign, {0, 0}));
  EXPECT_FALSE(allocator.record_use(nullptr, {0, 0}));
  EXPECT_FALSE(allocator.record_use(block + 1, {0, 0}));
  allocator.free(block);
  EXPECT_FALSE(allocator.record_use(block, {0, 0}));
}

TEST_F(HostAllocatorTest, TellsTheCardWhoHoldsABlock) {
  void* block = allocator.allocate(100, "chunk");
  allocator.free(block);
  allocator.allocate(120, "other");
  EXPECT_EQ(driver.notes, (std::vector<std::string>{"chunk 100 of 128", "free", "other 120 of 128"}));
}

TEST_F(HostAllocatorTest, EmptiesItsCacheButNotWhatCopiesUse) {
  void* idle = allocator.allocate(kMiB, "");
  void* busy = allocator.allocate(2 * kMiB, "");
  void* held = allocator.allocate(4 * kMiB, "");
  allocator.record_use(busy, {0, 0});
  allocator.free(idle);
  allocator.free(busy);
  allocator.empty_cache();
  EXPECT_EQ(driver.held(), 6 * kMiB);
  EXPECT_EQ(stat("num_host_free"), 1);
  EXPECT_EQ(stat("allocations.current"), 2);
  driver.reached = {1};
  allocator.empty_cache();
  EXPECT_EQ(driver.held(), 4 * kMiB);
  allocator.free(held);
}

TEST_F(HostAllocatorTest, TimesTheCallsOfItsDriver) {
  driver.step_ns = 2500;
  void* block = allocator.allocate(512, "");
  driver.step_ns = 5999;
  allocator.allocate(512, "");
  allocator.free(block);
  driver.step_ns = 1000;
  allocator.empty_cache();
  EXPECT_EQ(stat("host_alloc_time.total"), 7);
  EXPECT_EQ(stat("host_alloc_time.max"), 5);
  EXPECT_EQ(stat("host_alloc_time.min"), 2);
  EXPECT_EQ(stat("host_alloc_time.count"), 2);
  EXPECT_EQ(stat("host_alloc_time.avg"), 3);
  EXPECT_EQ(stat("host_free_time.total"), 1);
  EXPECT_EQ(stat("host_free_time.count"), 1);
}

TEST_F(HostAllocatorTest, HasPyTorchsKeys) {
  std::vector<std::string> expected;
  for (const char* group : {"active_bytes", "active_requests", "allocated_bytes", "allocations", "requested_bytes"}) {
    for (const char* what : {"allocated", "current", "freed", "peak"}) {
      expected.push_back(std::string(group) + "." + what);
    }
  }
  for (const char* group : {"host_alloc_time", "host_free_time"}) {
    for (const char* what : {"avg", "count", "max", "min", "total"}) {
      expected.push_back(std::string(group) + "." + what);
    }
  }
  expected.insert(expected.end(), {"num_host_alloc", "num_host_free"});
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> keys;
  for (const auto& [key, value] : allocator.statistics().flatten()) keys.push_back(key);
  EXPECT_EQ(keys, expected);
}

TEST_F(HostAllocatorTest, StartsItsPeaksAgain) {
  allocator.free(allocator.allocate(kMiB, ""));
  EXPECT_EQ(stat("active_bytes.peak"), kMiB);
  allocator.reset_peaks();
  EXPECT_EQ(stat("active_bytes.peak"), 0);
  EXPECT_EQ(stat("allocated_bytes.peak"), kMiB);
  EXPECT_EQ(stat("active_bytes.allocated"), kMiB);
}

TEST_F(HostAllocatorTest, TakesRequestsAboveTheThresholdAsTheyAre) {
  allocator.set_settings(parse_allocator_settings("pinned_max_round_threshold_mb:64").pinned);
  EXPECT_EQ(block_bytes(33 * kMiB), 64 * kMiB);
  EXPECT_EQ(block_bytes(64 * kMiB), 64 * kMiB);
  void* block = allocator.allocate(129 * kMiB, "");
  EXPECT_EQ(stat("active_bytes.current"), 129 * kMiB);
  allocator.free(block);
  void* larger = allocator.allocate(130 * kMiB, "");  // of the same list, and too large for the free block
  EXPECT_NE(larger, block);
  EXPECT_EQ(allocator.allocate(129 * kMiB, ""), block);
}

TEST_F(HostAllocatorTest, DoesNotKeepBlocksAboveTheLimitOfItsCache) {
  allocator.set_settings(parse_allocator_settings("pinned_max_cached_size_mb:1").pinned);
  allocator.free(allocator.allocate(kMiB, ""));
  EXPECT_EQ(driver.held(), kMiB);
  void* large = allocator.allocate(2 * kMiB, "");
  allocator.record_use(large, {0, 0});
  allocator.free(large);
  EXPECT_EQ(driver.held(), 3 * kMiB);
  driver.reached = {1};
  allocator.allocate(1, "");  // polls
  EXPECT_EQ(driver.held(), kMiB + 1);
}

TEST_F(HostAllocatorTest, GivesItsCacheBackBeforeItRefuses) {
  driver.limit = 4 * kMiB;
  void* small = allocator.allocate(kMiB, "");
  allocator.free(small);
  EXPECT_NE(allocator.allocate(4 * kMiB, ""), nullptr);
  EXPECT_EQ(stat("num_host_free"), 1);
}

TEST_F(HostAllocatorTest, SaysWhatWasAskedWhatItTakesAndWhatIsHeldWhenItRefuses) {
  driver.limit = 512 * kMiB;
  allocator.allocate(257 * kMiB, "");
  const Error error = error_of([&] { allocator.allocate(129 * kMiB + kMiB / 2, ""); });
  EXPECT_EQ(error.code(), "out-of-pinned-memory");
  EXPECT_STREQ(error.what(), "CUDA error: out of memory: no pinned memory left for 129.50 MiB");
  EXPECT_EQ(
      error.why(),
      "129.50 MiB were requested and take a block of 256.00 MiB, since pinned blocks are powers of two; blocks of "
      "512.00 MiB are in use for tensors that asked for 257.00 MiB, and sim:0 reaches at most 512.00 MiB of pinned "
      "memory");
  EXPECT_EQ(error.fix(),
            "the rounding is what does not fit: pin sizes that are powers of two or slightly less, or set "
            "pinned_max_round_threshold_mb");
  EXPECT_EQ(stat("active_requests.current"), 1);
}

TEST_F(HostAllocatorTest, TellsARequestThatCanNeverFitFromOneThatCannotNow) {
  driver.limit = 512 * kMiB;
  EXPECT_EQ(error_of([&] { allocator.allocate(513 * kMiB, ""); }).fix(),
            "this can never fit: move the data in parts through a pinned buffer of a few MiB");
  allocator.allocate(512 * kMiB, "");
  EXPECT_EQ(error_of([&] { allocator.allocate(kMiB, ""); }).fix(),
            "pin a few buffers once and use them again, instead of pinning every tensor");
}

}  // namespace
}  // namespace labrig
