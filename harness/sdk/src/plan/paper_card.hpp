// A card that is only an account: the caching allocator of the core over a driver that hands out addresses and no
// memory. Every block that was ever held is an entry with a beginning and an end, so that afterwards one can ask who
// held what when everything together was most. Read next: paper.hpp (tensors on this card).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "labrig/dtype.hpp"
#include "labrig/layout.hpp"
#include "labrig/plan.hpp"
#include "memory/caching_allocator.hpp"

namespace labrig::plan {

inline constexpr std::size_t kNoRow = SIZE_MAX;  // what belongs to no layer

// Holds no memory: counts what it gave out, and refuses what is more than its capacity.
class PaperDriver final : public DriverMemory {
 public:
  explicit PaperDriver(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  void* malloc(std::size_t bytes) override;
  void free(void* memory) override;
  MemoryInfo memory_info() override { return {capacity_bytes_ - used_bytes_, capacity_bytes_}; }
  // Nothing is ever at work.
  Event record_event(std::uint16_t) override { return 0; }
  bool event_is_done(Event) override { return true; }
  void wait_for_event(Event) override {}
  void release_event(Event) override {}

 private:
  std::size_t capacity_bytes_, used_bytes_ = 0;
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
  std::map<void*, std::size_t> segments_;
};

// One block and its life, counted in events of the card: [from, to).
struct PaperEntry {
  Part part{};
  bool kept = false;    // a node keeps it for backward()
  std::size_t row = 0;  // the layer that made it
  std::string what;     // "output"
  Dims sizes;
  Dtype dtype{};
  std::size_t bytes = 0;  // of the block
  std::size_t from = 0, to = SIZE_MAX;
};

class PaperCard;

// A block while someone holds it; the last holder gives it back.
class PaperBlock {
 public:
  PaperBlock(PaperCard& card, Block* block, std::size_t entry) : card_(card), block_(block), entry_(entry) {}
  ~PaperBlock();
  PaperBlock(const PaperBlock&) = delete;
  PaperBlock& operator=(const PaperBlock&) = delete;
  PaperEntry& entry() const;

 private:
  PaperCard& card_;
  Block* block_;
  std::size_t entry_;
};

class PaperCard {
 public:
  // Requests beyond the capacity throw OutOfMemoryError.
  explicit PaperCard(std::size_t capacity_bytes);

  // `entry` says what for; its bytes and life are filled in.
  std::shared_ptr<PaperBlock> allocate(PaperEntry entry);

  // What is done now: "backward of 3 linear".
  void set_moment(const char* doing, std::size_t row) { doing_ = doing, row_ = row; }
  std::size_t row() const { return row_; }

  const std::vector<PaperEntry>& entries() const { return entries_; }
  std::size_t now() const { return now_; }
  std::size_t peak_bytes() const { return peak_bytes_; }
  std::size_t reserved_peak_bytes() const;
  std::size_t peak_at() const { return peak_at_; }
  const char* peak_doing() const { return peak_doing_; }
  std::size_t peak_row() const { return peak_row_; }

 private:
  friend class PaperBlock;
  PaperDriver driver_;
  CachingAllocator allocator_;
  std::vector<PaperEntry> entries_;
  std::size_t now_ = 0, held_bytes_ = 0, peak_bytes_ = 0, peak_at_ = 0, row_ = kNoRow, peak_row_ = kNoRow;
  const char* doing_ = "making the model";
  const char* peak_doing_ = doing_;
};

}  // namespace labrig::plan
