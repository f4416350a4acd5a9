// The ranges of addresses that programs reserve on a card, and the pages of memory behind them.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "card/byte_ranges.hpp"

namespace labrig::sim {

class PageTable {
 public:
  void add_range(std::uint64_t start, std::uint64_t bytes) {
    ranges_.insert(start);
    reserved_bytes_ += bytes;
  }
  void remove_range(std::uint64_t start, std::uint64_t bytes) {
    ranges_.erase(start);
    reserved_bytes_ -= bytes;
  }
  // Whether a range starts there.
  bool is_range(std::uint64_t start) const { return ranges_.contains(start); }

  // Bytes without pages get them; bytes with pages lose them.
  void map(std::uint64_t address, std::uint64_t bytes) {
    mapped_.add({address, bytes});
    mapped_bytes_ += bytes;
  }
  void unmap(std::uint64_t address, std::uint64_t bytes) {
    mapped_.remove({address, bytes});
    mapped_bytes_ -= bytes;
  }
  // Whether all, or any, of the bytes have pages.
  bool is_mapped(std::uint64_t address, std::uint64_t bytes) const;
  bool is_partly_mapped(std::uint64_t address, std::uint64_t bytes) const;

  std::uint64_t reserved_bytes() const { return reserved_bytes_; }
  std::uint64_t mapped_bytes() const { return mapped_bytes_; }
  // Of pages that touch each other.
  std::size_t mapped_pieces() const { return mapped_.pieces(); }

 private:
  std::vector<ByteRange> mapped_parts(std::uint64_t address, std::uint64_t bytes) const;

  std::set<std::uint64_t> ranges_;
  RangeSet mapped_;
  std::uint64_t reserved_bytes_ = 0, mapped_bytes_ = 0;
};

}  // namespace labrig::sim
