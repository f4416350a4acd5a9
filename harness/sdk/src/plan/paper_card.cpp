// The account: what was held when.
#include "plan/paper_card.hpp"

namespace labrig::plan {

void* PaperDriver::malloc(std::size_t bytes) {
  if (bytes > capacity_bytes_ - used_bytes_) return nullptr;
  void* const address = reinterpret_cast<void*>(next_);
  next_ += bytes;
  used_bytes_ += bytes;
  segments_[address] = bytes;
  return address;
}

void PaperDriver::free(void* memory) {
  const auto segment = segments_.find(memory);
  used_bytes_ -= segment->second;
  segments_.erase(segment);
}

PaperBlock::~PaperBlock() {
  PaperEntry& own = entry();
  own.to = ++card_.now_;
  card_.held_bytes_ -= own.bytes;
  card_.allocator_.free(block_);
}

PaperEntry& PaperBlock::entry() const { return card_.entries_[entry_]; }

PaperCard::PaperCard(std::size_t capacity_bytes) : driver_(capacity_bytes), allocator_(driver_, "the card", 0) {}

std::size_t PaperCard::reserved_peak_bytes() const {
  return static_cast<std::size_t>(allocator_.statistics().reserved_bytes.all().peak);
}

std::shared_ptr<PaperBlock> PaperCard::allocate(PaperEntry entry) {
  const auto elements = static_cast<std::size_t>(entry.sizes.product());
  Block* const block = allocator_.allocate(elements * element_bytes(entry.dtype), 0);
  entry.bytes = block->bytes;
  entry.row = row_;
  entry.from = ++now_;
  entries_.push_back(std::move(entry));
  held_bytes_ += block->bytes;
  if (held_bytes_ > peak_bytes_) {
    peak_bytes_ = held_bytes_, peak_at_ = now_;
    peak_doing_ = doing_, peak_row_ = row_;
  }
  return std::make_shared<PaperBlock>(*this, block, entries_.size() - 1);
}

}  // namespace labrig::plan
