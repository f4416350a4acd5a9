// PageTable: pages that touch are one piece.
#include "card/page_table.hpp"

namespace labrig::sim {

std::vector<ByteRange> PageTable::mapped_parts(std::uint64_t address, std::uint64_t bytes) const {
  std::vector<ByteRange> parts;
  mapped_.common({address, bytes}, parts);
  return parts;
}

bool PageTable::is_mapped(std::uint64_t address, std::uint64_t bytes) const {
  const auto parts = mapped_parts(address, bytes);
  return parts.size() == 1 && parts.front() == ByteRange{address, bytes};
}

bool PageTable::is_partly_mapped(std::uint64_t address, std::uint64_t bytes) const {
  return !mapped_parts(address, bytes).empty();
}

}  // namespace labrig::sim
