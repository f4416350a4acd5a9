// An allocator over a fake driver, with short names for what the tests ask.
#pragma once

#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "memory/caching_allocator.hpp"

namespace labrig::test {

constexpr std::size_t kKiB = 1024, kMiB = std::size_t{1} << 20;
constexpr std::size_t kManyBytes = std::size_t{1} << 40;

inline std::int64_t count(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

struct AllocatorFixture {
  explicit AllocatorFixture(std::size_t capacity = kManyBytes, const std::string& settings = "", bool pages = false)
      : driver(capacity) {
    driver.offers_pages = pages;
    allocator.set_settings(parse_allocator_settings(settings));
  }
  Block* take(std::size_t bytes, std::uint16_t stream = 0) { return allocator.allocate(bytes, stream); }
  void give(Block* block) { allocator.free(block); }
  std::int64_t statistic(const std::string& key) const { return allocator.statistics().flatten().at(key); }
  std::int64_t reserved() const { return statistic("reserved_bytes.all.current"); }
  std::int64_t allocated() const { return statistic("allocated_bytes.all.current"); }

  FakeDriver driver;
  CachingAllocator allocator{driver, "sim:0", 0};
};

}  // namespace labrig::test
