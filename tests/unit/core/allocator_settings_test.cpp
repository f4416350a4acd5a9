// The settings string: every key, PyTorch's sentences for wrong ones, and what roundings do to requests.
#include <gtest/gtest.h>

#include <cstdlib>

#include "allocator_fixture.hpp"
#include "expect_error.hpp"
#include "memory/rounding.hpp"

namespace labrig {
namespace {

using test::error_of;
using test::kMiB;
using Fixture = test::AllocatorFixture;

TEST(AllocatorSettings, ReadEveryKeyOfPyTorch) {
  const AllocatorSettings settings = parse_allocator_settings(
      " max_split_size_mb:128, max_non_split_rounding_mb : 30,garbage_collection_threshold:0.8,"
      "per_process_memory_fraction:0.5,expandable_segments:True,throw_on_cudamalloc_oom:True,backend:native,"
      "release_lock_on_cudamalloc:True,graph_capture_record_stream_reuse:False,pinned_use_cuda_host_register:True,"
      "pinned_num_register_threads:8,pinned_use_background_threads:True,pinned_max_round_threshold_mb:64,"
      "pinned_max_cached_size_mb:256,roundup_power2_divisions:4");
  EXPECT_EQ(settings.max_split_bytes, 128 * kMiB);
  EXPECT_EQ(settings.max_non_split_rounding_bytes, 30 * kMiB);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.8);
  EXPECT_EQ(settings.per_process_memory_fraction, 0.5);
  EXPECT_TRUE(settings.expandable_segments);
  EXPECT_TRUE(settings.throw_on_cudamalloc_oom);
  EXPECT_TRUE(settings.release_lock_on_cudamalloc);
  EXPECT_TRUE(settings.pinned.use_cuda_host_register);
  EXPECT_EQ(settings.pinned.num_register_threads, 8u);
  EXPECT_TRUE(settings.pinned.use_background_threads);
  EXPECT_EQ(settings.pinned.max_round_bytes, 64 * kMiB);
  EXPECT_EQ(settings.pinned.max_cached_bytes, 256 * kMiB);
  EXPECT_EQ(settings.divisions[0], 4u);
  EXPECT_EQ(settings.divisions[15], 4u);
}

TEST(AllocatorSettings, ReadAListOfDivisionsByTheSizeOfTheRequest) {
  const AllocatorSettings settings = parse_allocator_settings("roundup_power2_divisions:[64:8,128:2,256:4,>:1]");
  EXPECT_EQ(settings.divisions_for(5), 8u);
  EXPECT_EQ(settings.divisions_for(100 * kMiB), 8u);
  EXPECT_EQ(settings.divisions_for(128 * kMiB), 2u);
  EXPECT_EQ(settings.divisions_for(511 * kMiB), 4u);
  EXPECT_EQ(settings.divisions_for(512 * kMiB), 1u);
  EXPECT_EQ(settings.divisions_for(std::size_t{1} << 45), 1u);
  const AllocatorSettings gaps = parse_allocator_settings("roundup_power2_divisions:[64:8,256:4]");
  EXPECT_EQ(gaps.divisions_for(200 * kMiB), 0u) << "PyTorch fills no gap between two entries";
  EXPECT_EQ(gaps.divisions_for(600 * kMiB), 0u);
}

TEST(AllocatorSettings, RefuseWhatIsWrongWithPyTorchsSentence) {
  const std::pair<const char*, const char*> rows[] = {
      {"colour:red", "Unrecognized CachingAllocator option: colour"},
      {"max_split_size_mb:19", "CachingAllocator option max_split_size_mb too small, must be >= 20"},
      {"max_non_split_rounding_mb:1", "CachingAllocator option max_non_split_rounding_mb too small, must be >= 20"},
      {"garbage_collection_threshold:1", "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},
      {"garbage_collection_threshold:0", "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},
      {"garbage_collection_threshold:nan", "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},
      {"per_process_memory_fraction:1.5", "per_process_memory_fraction is invalid, set it in [0.0, 1.0]"},
      {"roundup_power2_divisions:3", "For roundups, the divisons has to be power of 2 "},
      {"roundup_power2_divisions:[64:3]", "For roundups, the divisons has to be power of 2 or 0 to disable roundup "},
      {"roundup_power2_divisions:[60:2]", "For roundups, the intervals have to be power of 2 "},
      {"backend:cudaMallocAsync", "backend:cudaMallocAsync is not offered here"},
      {"backend:jemalloc", "Unknown allocator backend, options are native and cudaMallocAsync"},
      {"pinned_num_register_threads:3", "Number of register threads has to be power of 2 "},
      {"pinned_num_register_threads:256", "Number of register threads should be less than or equal to 128"},
      {"expandable_segments:yes", "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'yes'"},
      {"expandable_segments=True", "Unrecognized CachingAllocator option: expandable_segments=True"},
      {"max_split_size_mb;32", "Unrecognized CachingAllocator option: max_split_size_mb;32"},
      {"max_split_size_mb,32", "Expected ':' at index 1 in ConfigTokenizer but got ','"},
      {"max_split_size_mb:many", "CachingAllocator settings: 'many' is not a whole number"},
      {"max_split_size_mb:", "Error parsing CachingAllocator settings: the text ends where a whole number is due"},
      {"roundup_power2_divisions:[64:2", "Error parsing CachingAllocator settings: the text ends where ',' is due"},
  };
  for (const auto& [text, what] : rows) {
    test::expect_error("invalid-allocator-setting", what, [text = text] { parse_allocator_settings(text); });
  }
}

TEST(AllocatorSettings, ComeFromTheNewVariableBeforeTheOldOne) {
  std::vector<std::string> warnings;
  setenv("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:40", 1);
  EXPECT_EQ(allocator_settings_of_environment(warnings).max_split_bytes, 40 * kMiB);
  EXPECT_EQ(warnings,
            (std::vector<std::string>{"PYTORCH_CUDA_ALLOC_CONF is deprecated, use PYTORCH_ALLOC_CONF instead"}));
  setenv("PYTORCH_ALLOC_CONF", "max_split_size_mb:50", 1);
  warnings.clear();
  EXPECT_EQ(allocator_settings_of_environment(warnings).max_split_bytes, 50 * kMiB);
  EXPECT_TRUE(warnings.empty());
  unsetenv("PYTORCH_ALLOC_CONF");
  unsetenv("PYTORCH_CUDA_ALLOC_CONF");
}

TEST(Rounding, GoesToTheNextDivisionBetweenTwoPowersOfTwo) {
  const auto rounded = [](std::size_t bytes, const char* divisions) {
    return rounded_bytes(bytes, parse_allocator_settings(std::string("roundup_power2_divisions:") + divisions));
  };
  EXPECT_EQ(rounded(514 * kMiB, "2"), 768 * kMiB);
  EXPECT_EQ(rounded(514 * kMiB, "1"), 514 * kMiB);  // one division changes nothing
  EXPECT_EQ(rounded(1200, "4"), 1536u);             // up to 512 x divisions: multiples of 512
  EXPECT_EQ(rounded(2049, "4"), 2560u);
  EXPECT_EQ(rounded(4096, "4"), 4096u);  // a power of two stays
  EXPECT_EQ(rounded(1200 * kMiB, "4"), 1280 * kMiB);
}

TEST(Rounding, KeepsASizeThatOverflowedOutOfReach) {
  for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} - 51 * kMiB, ~std::size_t{0} / 2 + 2}) {
    EXPECT_GE(rounded_bytes(bytes, {}), bytes / 512 * 512);
    EXPECT_GE(segment_bytes(rounded_bytes(bytes, {})), bytes / (2 * kMiB) * (2 * kMiB));
  }
}

// --- settings at work: the scenarios of published reports
// ---------------------------------------------------------------

TEST(AllocatorSettings, LetASplitLimitSaveACardOf96MiB) {
  for (const bool limited : {false, true}) {
    Fixture memory(96 * kMiB, limited ? "max_split_size_mb:32" : "");
    memory.give(memory.take(64 * kMiB));
    memory.take(16 * kMiB);
    if (limited) {
      memory.take(64 * kMiB);
      EXPECT_EQ(memory.reserved(), test::count(80 * kMiB));
      EXPECT_EQ(memory.statistic("num_alloc_retries"), 0);
    } else {
      const Error error = error_of([&] { memory.take(64 * kMiB); });
      EXPECT_NE(std::string(error.what()).find("48.00 MiB is reserved by PyTorch but unallocated"), std::string::npos);
    }
  }
}

TEST(AllocatorSettings, LetDivisionsShareSegmentsAmongSimilarSizes) {
  const auto segments = [](const char* settings) {
    Fixture memory(test::kManyBytes, settings);
    for (std::size_t mib = 30; mib <= 35; ++mib) memory.give(memory.take(mib * kMiB));
    return std::pair(memory.reserved(), memory.statistic("segment.all.current"));
  };
  EXPECT_EQ(segments(""), std::pair(test::count(132 * kMiB), std::int64_t{4}));
  EXPECT_EQ(segments("roundup_power2_divisions:4"), std::pair(test::count(72 * kMiB), std::int64_t{2}));
}

TEST(AllocatorSettings, RoundFiveHundredAndFourteenMiBUpToThreeQuartersOfAGiB) {
  Fixture memory(test::kManyBytes, "roundup_power2_divisions:2");
  memory.take(514 * kMiB);
  EXPECT_EQ(memory.reserved(), test::count(768 * kMiB));
}

TEST(AllocatorSettings, KeepOversizeBlocksWholeAndForOversizeRequests) {
  Fixture memory(test::kManyBytes, "max_split_size_mb:32");
  EXPECT_EQ(memory.statistic("max_split_size"), test::count(32 * kMiB));
  Block* block = memory.take(64 * kMiB);
  EXPECT_EQ(memory.statistic("oversize_allocations.current"), 1);
  EXPECT_EQ(memory.statistic("oversize_segments.current"), 1);
  memory.give(block);
  EXPECT_EQ(memory.statistic("oversize_allocations.current"), 0);
  EXPECT_EQ(memory.take(44 * kMiB)->bytes, 44 * kMiB) << "64 would waste 20 MiB";
  EXPECT_EQ(memory.take(46 * kMiB)->bytes, 64 * kMiB) << "18 MiB may be wasted, and nothing is split off";
  EXPECT_EQ(memory.statistic("oversize_segments.allocated"), 2);
}

TEST(AllocatorSettings, LetAnOversizeBlockGoForAnotherBeforeTheWholeCacheDoes) {
  Fixture memory(100 * kMiB, "max_split_size_mb:32");
  memory.give(memory.take(20 * kMiB));
  memory.give(memory.take(40 * kMiB));
  memory.take(60 * kMiB);  // two pieces of the cache are in the way, and the large one is not enough
  EXPECT_EQ(memory.statistic("num_alloc_retries"), 1);
  Fixture other(100 * kMiB, "max_split_size_mb:32");
  other.give(other.take(20 * kMiB));
  other.give(other.take(70 * kMiB));
  other.take(40 * kMiB);
  EXPECT_EQ(other.statistic("num_alloc_retries"), 0);
  EXPECT_EQ(other.reserved(), test::count(60 * kMiB));
  EXPECT_EQ(other.statistic("oversize_segments.freed"), 1);
}

TEST(AllocatorSettings, CollectTheOldestBlocksOnlyWhenThereIsAFraction) {
  for (const bool with_fraction : {false, true}) {
    Fixture memory(1000 * kMiB, "garbage_collection_threshold:0.5");
    if (with_fraction) memory.allocator.set_fraction(0.18);  // 180 MiB, collected above 90
    Block *busy = memory.take(10 * kMiB), *old = memory.take(40 * kMiB), *young = memory.take(50 * kMiB);
    memory.give(busy);
    memory.give(old);
    for (int i = 0; i < 5; ++i) memory.give(memory.take(10 * kMiB));
    memory.give(young);
    memory.take(60 * kMiB);
    EXPECT_EQ(memory.statistic("num_device_free"), with_fraction ? 1 : 0);
    EXPECT_EQ(memory.reserved(), test::count((with_fraction ? 120 : 160) * kMiB)) << "the old one went";
    EXPECT_EQ(memory.statistic("num_alloc_retries"), 0);
  }
}

TEST(AllocatorSettings, BoundTheCacheByAPartOfTheCard) {
  Fixture memory(200 * kMiB, "per_process_memory_fraction:0.25,throw_on_cudamalloc_oom:True");
  memory.take(40 * kMiB);
  const Error error = error_of([&] { memory.take(20 * kMiB); });
  EXPECT_NE(std::string(error.what()).find("50.00 MiB allowed; "), std::string::npos) << error.what();
  EXPECT_EQ(memory.statistic("num_oom_rejections"), 1);
  EXPECT_EQ(memory.statistic("num_ooms"), 1);
}

}  // namespace
}  // namespace labrig
