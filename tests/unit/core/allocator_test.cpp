// The rules of the caching allocator, one a test, with PyTorch's published numbers.
#include <gtest/gtest.h>

#include <vector>

#include "allocator_fixture.hpp"
#include "expect_error.hpp"
#include "memory/out_of_memory.hpp"

namespace labrig {
namespace {

using test::error_of;
using test::kKiB;
using test::kMiB;
using Fixture = test::AllocatorFixture;

TEST(CachingAllocator, GivesOneRequestTheBlockAndSegmentThatPyTorchGives) {
  struct Row {
    std::size_t request;
    std::size_t allocated, reserved, inactive_split;
  };
  const Row rows[] = {
      {1, 512, 2 * kMiB, 2096640},
      {512, 512, 2 * kMiB, 2096640},
      {513, 1024, 2 * kMiB, 2096128},
      {kMiB, kMiB, 2 * kMiB, 1048576},
      {kMiB + 1, 1049088, 20 * kMiB, 19922432},
      {2 * kMiB, 2 * kMiB, 20 * kMiB, 18874368},
      {10 * kMiB - 512, 10485248, 20 * kMiB, 10486272},
      {10 * kMiB - 1, 10 * kMiB, 10 * kMiB, 0},
      {10 * kMiB + 1, 10486272, 12 * kMiB, 2096640},
      {19 * kMiB + 512 * kKiB, 20 * kMiB, 20 * kMiB, 0},
      {21 * kMiB, 22 * kMiB, 22 * kMiB, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.request);
    Fixture memory;
    const Block* block = memory.take(row.request);
    EXPECT_EQ(block->bytes, row.allocated);
    EXPECT_EQ(memory.allocated(), static_cast<std::int64_t>(row.allocated));
    EXPECT_EQ(memory.reserved(), static_cast<std::int64_t>(row.reserved));
    EXPECT_EQ(memory.statistic("inactive_split_bytes.all.current"), static_cast<std::int64_t>(row.inactive_split));
    EXPECT_EQ(memory.statistic("requested_bytes.all.current"), static_cast<std::int64_t>(row.request));
  }
}

TEST(CachingAllocator, KeepsAFreedBlockForTheNextRequestOfItsSize) {
  Fixture memory;
  Block* block = memory.take(3 * kMiB);
  std::byte* const address = block->address;
  memory.allocator.free(block);
  EXPECT_EQ(memory.allocated(), 0);
  EXPECT_EQ(memory.reserved(), static_cast<std::int64_t>(20 * kMiB));
  EXPECT_EQ(memory.take(3 * kMiB)->address, address);
  EXPECT_EQ(memory.statistic("num_device_alloc"), 1);
}

TEST(CachingAllocator, ReservesByTheOrderOfRequestsAndNotByTheirSumAlone) {
  const auto reserved_after = [](int first, std::size_t first_bytes, int second, std::size_t second_bytes) {
    Fixture memory;
    std::vector<Block*> blocks;
    for (int i = 0; i < first; ++i) blocks.push_back(memory.take(first_bytes));
    for (Block* block : blocks) memory.allocator.free(block);
    for (int i = 0; i < second; ++i) memory.take(second_bytes);
    return memory.reserved();
  };
  EXPECT_EQ(reserved_after(8, 16 * kMiB, 4, 32 * kMiB), static_cast<std::int64_t>(256 * kMiB));
  EXPECT_EQ(reserved_after(4, 32 * kMiB, 8, 16 * kMiB), static_cast<std::int64_t>(128 * kMiB));
  EXPECT_EQ(reserved_after(1, 2 * kMiB, 1, 512 * kKiB), static_cast<std::int64_t>(22 * kMiB));
}

TEST(CachingAllocator, TakesTheSmallestBlockThatFitsAndTheLowestAddressAmongEquals) {
  Fixture memory;
  Block* large = memory.take(40 * kMiB);
  Block* first = memory.take(30 * kMiB);
  Block* second = memory.take(30 * kMiB);
  std::byte *const low = first->address, *const high = second->address;
  memory.allocator.free(large);
  memory.allocator.free(second);
  memory.allocator.free(first);
  EXPECT_EQ(memory.take(30 * kMiB)->address, low);
  EXPECT_EQ(memory.take(30 * kMiB)->address, high);
}

TEST(CachingAllocator, NeverServesAStreamWithABlockOfAnother) {
  for (const std::uint16_t other : {std::uint16_t{1}, std::uint16_t{3}}) {
    Fixture memory;
    memory.allocator.free(memory.take(16 * kMiB, other));
    memory.take(16 * kMiB, 2);
    EXPECT_EQ(memory.statistic("segment.all.current"), 2) << "with a free block of stream " << other;
  }
}

TEST(CachingAllocator, SplitsALargeBlockOnlyWhenMoreThanAMebibyteIsLeft) {
  Fixture memory;
  memory.allocator.free(memory.take(20 * kMiB));
  Block* whole = memory.take(19 * kMiB);
  EXPECT_EQ(whole->bytes, 20 * kMiB);
  memory.allocator.free(whole);
  EXPECT_EQ(memory.take(19 * kMiB - 512)->bytes, 19 * kMiB - 512);
}

TEST(CachingAllocator, MergesFreeNeighboursInEitherOrder) {
  for (const bool forwards : {true, false}) {
    Fixture memory;
    Block* blocks[3] = {memory.take(512 * kKiB), memory.take(512 * kKiB), memory.take(1 * kMiB)};
    std::byte* const start = blocks[0]->address;
    EXPECT_EQ(memory.reserved(), static_cast<std::int64_t>(2 * kMiB));
    for (int i = 0; i < 3; ++i) memory.allocator.free(blocks[forwards ? i : 2 - i]);
    EXPECT_EQ(memory.statistic("inactive_split.all.current"), 0);
    EXPECT_EQ(memory.take(1 * kMiB)->address, start);
  }
}

TEST(CachingAllocator, GivesOnlyUnsplitBlocksBackToTheDriver) {
  Fixture memory;
  Block* kept = memory.take(2 * kMiB);
  memory.allocator.free(memory.take(2 * kMiB));
  memory.allocator.free(memory.take(30 * kMiB));
  memory.allocator.empty_cache();
  EXPECT_EQ(memory.reserved(), static_cast<std::int64_t>(20 * kMiB));
  EXPECT_EQ(memory.statistic("num_device_free"), 1);
  memory.allocator.free(kept);
  memory.allocator.empty_cache();
  EXPECT_EQ(memory.reserved(), 0);
  EXPECT_EQ(memory.driver.segments(), 0u);
}

TEST(CachingAllocator, SucceedsAfterOneFlushWhenTheFreeMemoryIsInWholeSegments) {
  Fixture memory(64 * kMiB);
  Block* blocks[4];
  for (Block*& block : blocks) block = memory.take(16 * kMiB);
  memory.allocator.free(blocks[0]);
  memory.allocator.free(blocks[2]);
  memory.take(32 * kMiB);
  EXPECT_EQ(memory.statistic("num_alloc_retries"), 1);
  EXPECT_EQ(memory.statistic("num_ooms"), 0);
}

TEST(CachingAllocator, FailsWithTheSameFiguresWhenTheFreeMemoryIsInPiecesOfOneSegment) {
  Fixture memory(64 * kMiB);
  memory.allocator.free(memory.take(64 * kMiB));
  Block* blocks[4];
  for (Block*& block : blocks) block = memory.take(16 * kMiB);
  memory.allocator.free(blocks[0]);
  memory.allocator.free(blocks[2]);
  const Error error = error_of([&] { memory.take(32 * kMiB); });
  EXPECT_EQ(error.code(), "out-of-memory");
  EXPECT_NE(error.fix().find("fragmented"), std::string::npos);
  EXPECT_EQ(memory.allocated(), static_cast<std::int64_t>(32 * kMiB));
  EXPECT_EQ(memory.reserved(), static_cast<std::int64_t>(64 * kMiB));
  EXPECT_EQ(memory.statistic("num_alloc_retries"), 1);
  EXPECT_EQ(memory.statistic("num_ooms"), 1);
}

TEST(CachingAllocator, SaysThePartsOfPyTorchsTextWhenTheCardIsFull) {
  Fixture memory(96 * kMiB);
  memory.allocator.free(memory.take(64 * kMiB));
  memory.take(16 * kMiB);
  const Error error = error_of([&] { memory.take(64 * kMiB); });
  EXPECT_STREQ(
      error.what(),
      "CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 96.00 MiB of which 32.00 MiB "
      "is free. Including non-PyTorch memory, this process has 64.00 MiB memory in use. Of the allocated memory "
      "16.00 MiB is allocated by PyTorch, and 48.00 MiB is reserved by PyTorch but unallocated. If reserved but "
      "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid "
      "fragmentation.  See documentation for Memory Management  "
      "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)");
}

TEST(CachingAllocator, NamesTheSegmentInTheTextAndTheRequestBesideIt) {
  Fixture memory(16 * kMiB);
  const Error error = error_of([&] { memory.take(2 * kMiB - 100); });
  EXPECT_NE(std::string(error.what()).find("Tried to allocate 20.00 MiB"), std::string::npos);
  EXPECT_EQ(error.why(),
            "capacity: a tensor of 2.00 MiB was requested on sim:0; it needs a block of 2.00 MiB, for which the driver "
            "was asked for a "
            "segment of 20.00 MiB; tensors hold 0 bytes, and the largest free block in the cache has 0 bytes");
  EXPECT_NE(error.fix().find("never fit"), std::string::npos);
}

TEST(CachingAllocator, SaysHowMuchIsAllowedWhenThereIsALimit) {
  Fixture memory;
  memory.allocator.set_limit(256 * kMiB);
  memory.take(24);
  const Error error = error_of([&] { memory.take(300 * kMiB); });
  EXPECT_NE(std::string(error.what())
                .find("256.00 MiB allowed; Of the allocated memory 512 bytes is allocated by PyTorch, "
                      "and 2.00 MiB is reserved by PyTorch but unallocated."),
            std::string::npos)
      << error.what();
}

TEST(CachingAllocator, KeepsWorkingAfterItHasFailed) {
  Fixture memory(24 * kMiB);
  Block* block = memory.take(2 * kMiB);
  error_of([&] { memory.take(21 * kMiB); });
  memory.allocator.free(block);
  EXPECT_EQ(memory.take(21 * kMiB)->bytes, 22 * kMiB);
}

TEST(CachingAllocator, ResetsPeaksToWhatIsInUse) {
  Fixture memory;
  memory.allocator.free(memory.take(30 * kMiB));
  memory.take(512);
  EXPECT_EQ(memory.statistic("allocated_bytes.all.peak"), static_cast<std::int64_t>(30 * kMiB));
  memory.allocator.reset_peaks();
  EXPECT_EQ(memory.statistic("allocated_bytes.all.peak"), 512);
  EXPECT_EQ(memory.statistic("allocated_bytes.large_pool.peak"), 0);
}

TEST(CachingAllocator, CountsTheTwoPoolsApart) {
  Fixture memory;
  memory.take(1 * kMiB);
  memory.take(1 * kMiB + 1);
  EXPECT_EQ(memory.statistic("allocation.small_pool.current"), 1);
  EXPECT_EQ(memory.statistic("allocation.large_pool.current"), 1);
  EXPECT_EQ(memory.statistic("allocation.all.current"), 2);
  EXPECT_EQ(memory.statistic("reserved_bytes.small_pool.allocated"), static_cast<std::int64_t>(2 * kMiB));
}

TEST(AllocatorStatistics, HaveExactlyPyTorchsKeys) {
  const auto flat = AllocatorStatistics{}.flatten();
  EXPECT_EQ(flat.size(), 10u * 3 * 4 + 2 * 4 + 7);
  for (const char* key : {"allocation.all.current", "inactive_split_bytes.small_pool.freed", "oversize_segments.peak",
                          "max_split_size", "num_sync_all_streams", "requested_bytes.large_pool.allocated"}) {
    EXPECT_TRUE(flat.contains(key)) << key;
  }
}

TEST(FormatBytes, ChangesTheUnitOnlyAboveTheLimit) {
  EXPECT_EQ(format_bytes(1024), "1024 bytes");
  EXPECT_EQ(format_bytes(1025), "1.00 KiB");
  EXPECT_EQ(format_bytes(kMiB), "1024.00 KiB");
  EXPECT_EQ(format_bytes(1024 * kMiB), "1024.00 MiB");
  EXPECT_EQ(format_bytes(1024 * kMiB + 1024 * kMiB / 2), "1.50 GiB");
}

}  // namespace
}  // namespace labrig
