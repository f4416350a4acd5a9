// The public functions of labrig/memory.hpp on a card for tests.
#include "labrig/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "device/registry.hpp"
#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/ops.hpp"
#include "labrig/tensor.hpp"

namespace labrig {
namespace {

using nlohmann::json;
using test::AttachedCard;
using test::error_of;
using test::expect_error;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// A variable of the environment for a scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

Tensor bytes_on_card(std::int64_t bytes) { return empty({bytes}, Options(Device("sim:0"), kU8)); }

TEST(Memory, HasItsFiguresAsATableAndAsJson) {
  AttachedCard card;
  const Tensor x = bytes_on_card(3000);
  EXPECT_NE(memory_summary("sim").find("| Allocated memory      |   3072 B   |"), std::string::npos);
  EXPECT_NE(memory_summary("sim:0").find("from large pool"), std::string::npos);
  EXPECT_EQ(memory_summary("sim:0", true).find("from large pool"), std::string::npos);
  EXPECT_EQ(json::parse(memory_stats_as_nested_dict("sim:0"))["requested_bytes"]["all"]["current"], 3000);
  reset_accumulated_memory_stats("sim:0");
  EXPECT_EQ(memory_stats("sim:0").at("allocated_bytes.all.allocated"), 0);
}

TEST(Memory, ShowsWhatIsWhereAndWhatHappened) {
  EXPECT_TRUE(json::parse(memory_snapshot("sim:0"))["segments"].empty());
  AttachedCard card;
  record_memory_history("sim:0");
  const Tensor x = bytes_on_card(3000);
  const json all = json::parse(memory_snapshot("sim:0"));
  EXPECT_EQ(all["segments"][0]["requested_size"], 3000);
  EXPECT_EQ(all["device_traces"][0][0]["action"], "segment_alloc");
  record_memory_history("sim:0", 0);
  EXPECT_TRUE(json::parse(memory_snapshot("sim:0"))["device_traces"][0].empty());
}

TEST(Memory, TakesSettingsAndALimit) {
  AttachedCard card;
  set_allocator_settings("sim:0", "roundup_power2_divisions:2,expandable_segments:True");
  EXPECT_EQ(bytes_on_card(5 * kMiB).numel(), 5 * kMiB);
  EXPECT_EQ(max_memory_allocated("sim:0"), static_cast<std::size_t>(6 * kMiB));
  EXPECT_EQ(allocator_warnings("sim:0"),
            (std::vector<std::string>{"expandable_segments not supported on this platform"}));
  expect_error("invalid-allocator-setting", "Unrecognized CachingAllocator option: colour",
               [] { set_allocator_settings("sim:0", "colour:red"); });
  expect_error("invalid-allocator-setting", "Invalid fraction value: 1.5. Allowed range: 0~1",
               [] { set_per_process_memory_fraction(1.5, "sim:0"); });
  expect_error("invalid-allocator-setting", "Invalid fraction value: 2.0. Allowed range: 0~1",
               [] { set_per_process_memory_fraction(2, "sim:0"); });
  set_per_process_memory_fraction(0.5, "sim:0");
  const Error error = error_of([] { bytes_on_card(40 * kMiB); });
  EXPECT_NE(std::string(error.what()).find("32.00 MiB allowed; "), std::string::npos) << error.what();
  EXPECT_EQ(error_of([] { set_allocator_settings("cpu", ""); }).code(), "invalid-device");
}

TEST(Memory, TakesTheSettingsOfTheEnvironmentWhenADeviceIsOpened) {
  {
    const Environment settings("PYTORCH_ALLOC_CONF", "max_split_size_mb:32");
    AttachedCard card;
    bytes_on_card(512);
    EXPECT_EQ(memory_stats("sim:0").at("max_split_size"), 32 * kMiB);
  }
  const Environment settings("PYTORCH_ALLOC_CONF", "max_split_size_mb:3");
  AttachedCard card;
  expect_error("invalid-allocator-setting", "CachingAllocator option max_split_size_mb too small, must be >= 20",
               [] { bytes_on_card(512); });
  set_allocator_settings("sim:0", "");
  EXPECT_EQ(bytes_on_card(512).numel(), 512);
}

TEST(Memory, GoesAroundTheCacheWhenCachingIsOff) {
  const Environment off("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
  AttachedCard card;
  {
    const Tensor x = bytes_on_card(100);
    EXPECT_EQ(card.card().used, 512u);
    EXPECT_EQ(memory_allocated("sim:0"), 0u);
  }
  EXPECT_EQ(card.card().used, 0u);
}

TEST(Memory, AsksACallbackWhenItRunsOutAndTellsAnObserver) {
  AttachedCard card;
  Tensor spare = bytes_on_card(40 * kMiB);
  std::vector<std::size_t> asked, seen;
  attach_out_of_memory_observer("sim:0", [&](const OutOfMemory& facts) { seen.push_back(facts.requested_bytes); });
  set_out_of_memory_callback("sim:0", [&](std::size_t bytes) {
    asked.push_back(bytes);
    const bool had_one = spare.defined();
    spare = Tensor();
    return had_one;
  });
  EXPECT_EQ(bytes_on_card(50 * kMiB).numel(), 50 * kMiB);
  const auto wanted = static_cast<std::size_t>(50 * kMiB);
  EXPECT_EQ(asked, (std::vector<std::size_t>{wanted}));
  EXPECT_EQ(seen, (std::vector<std::size_t>{wanted}));
  set_out_of_memory_callback("sim:0", nullptr);
  try {
    bytes_on_card(70 * kMiB);
    ADD_FAILURE() << "there was memory";
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.verdict(), OutOfMemoryVerdict::capacity);
    EXPECT_EQ(error.facts().device_name, "sim:0");
    EXPECT_NE(std::string(error.what()).find("Including non-PyTorch memory, this process has 0 bytes memory in use. "),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(asked.size(), 1u);
}

TEST(Memory, ListsTheMemoryOfOthersOnASimulatedCard) {
  AttachedCard card;
  card.card().used = std::size_t{50} << 20;
  const Error error = error_of([] { bytes_on_card(30 * kMiB); });
  EXPECT_NE(
      std::string(error.what()).find("of which 14.00 MiB is free. Process 1 has 50.00 MiB memory in use. Including"),
      std::string::npos)
      << error.what();
  EXPECT_EQ(error.why().rfind("shared: ", 0), 0u);
  card.card().used = 0;
}

TEST(MemoryScope, CountsWhatHappensInIt) {
  AttachedCard card;
  const Tensor before = bytes_on_card(512);
  MemoryScope outer("sim:0");
  const Tensor x = bytes_on_card(1024);
  {
    MemoryScope inner("sim:0");
    bytes_on_card(4096);
    EXPECT_EQ(inner.counters().bytes.peak, 4096);
    EXPECT_EQ(inner.counters().allocations.current, 0);
  }
  EXPECT_EQ(outer.counters().bytes.current, 1024);
  EXPECT_EQ(outer.counters().bytes.peak, 1024 + 4096);
  EXPECT_EQ(outer.counters().allocations.total, 2);
}

TEST(MemoryScope, OutlivesItsCardWithoutHarm) {
  auto card = std::make_unique<AttachedCard>();
  const MemoryScope scope("sim:0");
  card.reset();
  EXPECT_EQ(scope.counters().bytes.peak, 0);
}

TEST(MemoryLog, IsAFileThatEndsWhenItIsTold) {
  AttachedCard card;
  const auto path = std::filesystem::temp_directory_path() / ("labrig-memory-log-" + std::to_string(getpid()) + ".csv");
  log_memory("sim:0", path.string());
  bytes_on_card(700);
  log_memory("sim:0", "");
  bytes_on_card(800);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  EXPECT_NE(text.find(",700,0\n0,1,free,0x"), std::string::npos) << text;
  EXPECT_EQ(text.find(",800,"), std::string::npos);
  EXPECT_EQ(error_of([] { log_memory("sim:0", "/no/such/folder/log.csv"); }).code(), "bad-file");
}

TEST(DeviceSlot, RecordsAStreamWithEventsThatItUsesAgain) {
  AttachedCard card;
  const auto slot = slot_of("sim:0");
  for (int i = 0; i < 3; ++i) {
    Block* block = slot->allocate(1000, 0, "x");
    slot->record_stream(block, 2);
    slot->release(block);
  }
  slot->record_stream(nullptr, 2);  // of an empty tensor
  EXPECT_EQ(card->events, 1u) << "each was done before the next was needed";
  EXPECT_EQ(memory_stats("sim:0").at("active.all.current"), 1);
}

}  // namespace
}  // namespace labrig
