// The adaptors in front of an allocator, the log and its replay, and the allocator without a cache.
#include <gtest/gtest.h>

#include <sstream>

#include "allocator_fixture.hpp"
#include "expect_error.hpp"
#include "memory/memory_log.hpp"
#include "memory/uncached_allocator.hpp"

namespace labrig {
namespace {

using test::count;
using test::kMiB;
using Fixture = test::AllocatorFixture;

TEST(LimitAdaptor, RefusesWhatGoesBeyondItsLimit) {
  Fixture memory;
  LimitAdaptor limited(memory.allocator, 4096);
  Block* block = limited.allocate(3000, 0);
  EXPECT_EQ(limited.allocated_bytes(), 3072u);
  test::expect_error("memory-limit", "Exceeded memory limit (failed to allocate 1.46 KiB)",
                     [&] { limited.allocate(1500, 0); });
  test::expect_error("memory-limit", "Exceeded memory limit (failed to allocate 17179869184.00 GiB)",
                     [&] { limited.allocate(~std::size_t{0} - 100, 0); });
  limited.free(block);
  EXPECT_EQ(limited.allocated_bytes(), 0u);
  limited.free(limited.allocate(4096, 0));
}

TEST(StatisticsAdaptor, FoldsAScopeIntoTheOneAroundIt) {
  Fixture memory;
  StatisticsAdaptor counted(memory.allocator);
  counted.free(counted.allocate(kMiB, 0));  // before any scope
  const std::size_t outer = counted.push();
  Block* kept = counted.allocate(512, 0);
  counted.free(counted.allocate(1024, 0));
  counted.push();
  Block* inner = counted.allocate(4096, 0);
  counted.free(inner);
  EXPECT_EQ(counted.counters(outer).bytes.peak, 1536) << "the inner scope is its own until it ends";
  const MemoryCounters ended = counted.pop();
  EXPECT_EQ(ended.bytes.current, 0);
  EXPECT_EQ(ended.bytes.peak, 4096);
  EXPECT_EQ(ended.allocations.total, 1);
  const MemoryCounters folded = counted.counters(outer);
  EXPECT_EQ(folded.bytes.current, 512);
  EXPECT_EQ(folded.bytes.peak, 512 + 4096);
  EXPECT_EQ(folded.bytes.total, 512 + 1024 + 4096);
  EXPECT_EQ(folded.allocations.peak, 2);
  counted.free(kept);
  EXPECT_EQ(counted.pop().bytes.current, 0);
  EXPECT_EQ(test::error_of([&] { counted.pop(); }).code(), "no-memory-scope");
}

TEST(RetryAdaptor, TriesAgainAsLongAsTheCallbackSaysSo) {
  Fixture memory(64 * kMiB);
  RetryAdaptor retrying(memory.allocator);
  std::vector<Block*> held = {retrying.allocate(30 * kMiB, 0), retrying.allocate(30 * kMiB, 0)};
  std::vector<std::size_t> asked;
  retrying.set_callback([&](std::size_t bytes) {
    asked.push_back(bytes);
    if (held.empty()) return false;
    retrying.free(held.back());
    held.pop_back();
    return true;
  });
  EXPECT_EQ(retrying.allocate(60 * kMiB - 7, 0)->bytes, 60 * kMiB);
  EXPECT_EQ(asked, (std::vector<std::size_t>{60 * kMiB - 7, 60 * kMiB - 7}));
  EXPECT_EQ(test::error_of([&] { retrying.allocate(10 * kMiB, 0); }).code(), "out-of-memory");
}

TEST(MemoryLog, WritesALineForEachEventAndReplaysToTheSameFigures) {
  Fixture memory(100 * kMiB);
  LogAdaptor logged(memory.allocator);
  const auto text = std::make_shared<std::ostringstream>();
  logged.start(text);
  Block *first = logged.allocate(3 * kMiB, 0), *second = logged.allocate(1000, 4);
  logged.free(first);
  test::error_of([&] { logged.allocate(200 * kMiB, 0); });
  Block* third = logged.allocate(30 * kMiB, 0);
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(second->address);
  std::ostringstream line;
  line << "0,1,allocate,0x" << std::hex << address << std::dec << ",1000,4\n";
  EXPECT_EQ(text->str().rfind("Thread,Time,Action,Pointer,Size,Stream\n0,0,allocate,0x", 0), 0u);
  EXPECT_NE(text->str().find(line.str()), std::string::npos) << text->str();
  EXPECT_NE(text->str().find("0,3,allocate failure,0x0,209715200,0\n"), std::string::npos);
  logged.start(nullptr);
  logged.free(third);
  EXPECT_EQ(text->str().find("\n0,5"), std::string::npos);

  Fixture other(100 * kMiB);
  std::istringstream log(text->str());
  const ReplayResult result = replay_log(log, "a.csv", other.allocator).value();
  EXPECT_EQ(result.allocations, 3u);
  EXPECT_EQ(result.frees, 1u);
  EXPECT_EQ(result.failures, 1u);
  EXPECT_EQ(other.allocated(), 0) << "what the log leaves is freed at the end";
  for (const char* key : {"allocated_bytes.all.peak", "reserved_bytes.all.allocated", "num_alloc_retries"}) {
    EXPECT_EQ(other.statistic(key), memory.statistic(key)) << key;
  }
}

TEST(MemoryLog, ReplaysALogOfRmmAndSaysWhereOneIsWrong) {
  Fixture memory;
  std::istringstream rmm(
      "Thread,Time,Action,Pointer,Size,Stream\r\n"
      "139,10:23:01:481209,allocate,0x7f0000000000,1048576,0x55aa\r\n"
      "139,10:23:01:481300,free,0x7f0000000000,1048576,0x55aa\r\n"
      "139,10:23:01:481300,free,0x7f00000ff000,1048576,0\r\n");
  const ReplayResult result = replay_log(rmm, "rmm.csv", memory.allocator).value();
  EXPECT_EQ(result.allocations, 1u);
  EXPECT_EQ(result.frees, 1u);
  EXPECT_EQ(result.unknown_frees, 1u);
  const std::pair<const char*, const char*> rows[] = {
      {"0,0,allocate,0x10,many,0", "line 2: 'many' is not a size"},
      {"0,0,allocate,here,5,0", "line 2: 'here' is not a pointer"},
      {"0,0,dance,0x10,5,0", "line 2: 'dance' is no action; there are allocate, allocate failure and free"},
      {"0,0,allocate,0x10,5", "line 2: it has 5 cells instead of 6"},
      {"0,0,allocate,0x10,5,blue", "line 2: 'blue' is not a stream"},
  };
  for (const auto& [line, why] : rows) {
    std::istringstream log(std::string("Thread,Time,Action,Pointer,Size,Stream\n") + line);
    const auto refused = replay_log(log, "bad.csv", memory.allocator);
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().code(), "bad-file");
    EXPECT_EQ(refused.error().why(), why);
  }
}

TEST(UncachedAllocator, GoesToTheDriverEveryTime) {
  test::FakeDriver driver(10 * kMiB);
  UncachedAllocator allocator(driver, "sim:0", 0);
  Block* block = allocator.allocate(kMiB + 1, 0);
  EXPECT_EQ(driver.used_bytes(), kMiB + 512);
  try {
    allocator.allocate(10 * kMiB, 0);
    ADD_FAILURE() << "there was memory";
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.facts().reserved_bytes, kMiB + 512);
    EXPECT_EQ(error.facts().segment_bytes, 10 * kMiB);
  }
  allocator.free(block);
  EXPECT_EQ(driver.segments(), 0u);
}

}  // namespace
}  // namespace labrig
