// The caching allocator against recorded runs of PyTorch's: every block address and every statistic must come out equal
// when the driver gives the recorded segment addresses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "labrig/error.hpp"
#include "memory/caching_allocator.hpp"

namespace labrig {
namespace {

using Json = nlohmann::json;

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

// Hands out the recorded segments in their order, and expects them back when they came back.
class RecordedDriver : public DriverMemory {
 public:
  explicit RecordedDriver(const Json& log) {
    for (const Json& event : log) {
      if (event[0] == "segment_alloc") allocs_.push_back(event);
      if (event[0] == "segment_free") frees_.push_back(event[1].get<std::uint64_t>());
    }
  }
  void* malloc(std::size_t bytes) override {
    if (next_alloc_ == allocs_.size()) {
      ADD_FAILURE() << "the driver was asked for a segment of " << bytes << " bytes too many";
      return nullptr;
    }
    const Json& event = allocs_[next_alloc_++];
    EXPECT_EQ(bytes, event[2].get<std::uint64_t>());
    return reinterpret_cast<void*>(event[1].get<std::uint64_t>());
  }
  void free(void* memory) override { freed_.push_back(address_of(memory)); }
  MemoryInfo memory_info() override { return {std::size_t{1} << 37, std::size_t{1} << 38}; }
  void synchronize() override {}

  // What was given back since the last call, in whatever order: PyTorch sorts streams by the addresses of their
  // handles.
  void expect_recorded_frees() {
    ASSERT_LE(next_free_ + freed_.size(), frees_.size()) << "a segment was given back too many";
    const auto first = frees_.begin() + static_cast<std::ptrdiff_t>(next_free_);
    std::vector<std::uint64_t> recorded(first, first + static_cast<std::ptrdiff_t>(freed_.size()));
    std::sort(recorded.begin(), recorded.end());
    std::sort(freed_.begin(), freed_.end());
    EXPECT_EQ(freed_, recorded);
    next_free_ += freed_.size();
    freed_.clear();
  }
  void expect_all_used() const {
    EXPECT_EQ(next_alloc_, allocs_.size());
    EXPECT_EQ(next_free_, frees_.size());
  }

 private:
  std::vector<Json> allocs_;
  std::vector<std::uint64_t> frees_, freed_;
  std::size_t next_alloc_ = 0, next_free_ = 0;
};

void replay(const Json& trace, const std::vector<std::string>& keys) {
  RecordedDriver driver(trace["log"]);
  CachingAllocator allocator(driver, "sim:0", 0);
  if (!trace["cap_bytes"].is_null()) allocator.set_limit(trace["cap_bytes"].get<std::size_t>());
  std::vector<std::uint64_t> addresses;  // of the recorded blocks, in the order of their allocation
  for (const Json& event : trace["log"]) {
    if (event[0] == "alloc") addresses.push_back(event[1].get<std::uint64_t>());
  }
  std::size_t allocated = 0;
  std::map<int, Block*> blocks;
  for (std::size_t i = 0; i < trace["ops"].size(); ++i) {
    const Json& op = trace["ops"][i];
    SCOPED_TRACE("op " + std::to_string(i) + ": " + op.dump());
    const std::string action = op[0];
    if (action == "alloc") {
      Block* block = allocator.allocate(op[2].get<std::size_t>(), op[3].get<std::uint16_t>());
      ASSERT_LT(allocated, addresses.size());
      EXPECT_EQ(address_of(block->address), addresses[allocated++]);
      blocks[op[1].get<int>()] = block;
    } else if (action == "oom") {
      EXPECT_THROW(allocator.allocate(op[2].get<std::size_t>(), op[3].get<std::uint16_t>()), Error);
    } else if (action == "free") {
      allocator.free(blocks.at(op[1].get<int>()));
      blocks.erase(op[1].get<int>());
    } else if (action == "empty_cache") {
      allocator.empty_cache();
    } else {
      ASSERT_EQ(action, "reset_peak");
      allocator.reset_peaks();
    }
    driver.expect_recorded_frees();
    const auto statistics = allocator.statistics().flatten();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      ASSERT_EQ(statistics.at(keys[k]), trace["stats"][i][k].get<std::int64_t>()) << keys[k];
    }
  }
  driver.expect_all_used();
}

TEST(CachingAllocator, ReproducesRecordedRunsAddressForAddressAndFigureForFigure) {
  std::ifstream file(LABRIG_TEST_GOLDEN "/alloc_traces.json");
  const Json golden = Json::parse(file);
  const auto keys = golden["keys"].get<std::vector<std::string>>();
  ASSERT_FALSE(golden["traces"].empty());
  for (std::size_t i = 0; i < golden["traces"].size(); ++i) {
    SCOPED_TRACE("trace " + std::to_string(i));
    replay(golden["traces"][i], keys);
  }
}

}  // namespace
}  // namespace labrig
