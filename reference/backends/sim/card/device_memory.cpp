// DeviceMemory: one private mapping over the ranges of all cards; pages exist once they are touched.
#include "card/device_memory.hpp"

#include <sys/mman.h>

#include <cstring>

#include "labrig/error.hpp"
#include "ops/plain/kernels.hpp"

namespace labrig::sim {

DeviceMemory::DeviceMemory(const AddressMap& map, bool data) {
  if (!data || map.total_bytes() == 0) return;
  memory_ = Mapping::reserve(map.total_bytes(), true);
  if (memory_.data() == nullptr) {
    throw Error("no-shared-memory", "cannot set up the memory of the simulated card",
                "the system refuses " + std::to_string(map.total_bytes()) + " bytes of address space",
                "lift the limit on address space (ulimit -v), or use a profile with less memory");
  }
}

void DeviceMemory::poison(std::uint64_t offset, std::uint64_t bytes) {
  if (has_data()) std::memset(at(offset), 0xFF, bytes);
}

void DeviceMemory::release(std::uint64_t offset, std::uint64_t bytes) {
  if (!has_data()) return;
  const std::uint64_t first = (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::uint64_t end = (offset + bytes) / kPageBytes * kPageBytes;
  if (end > first) madvise(at(first), end - first, MADV_DONTNEED);
}

void DeviceMemory::run(const KernelCall& call, const RangeSet& poisoned) {
  if (!has_data()) return;
  KernelCall placed = call;
  std::vector<std::vector<std::byte>> copies;  // of inputs that show poison
  for (int i = 0; i < placed.operand_count; ++i) {
    Operand& operand = placed.operands[static_cast<std::size_t>(i)];
    const std::uint64_t bytes = extent_bytes(operand);
    // Without elements it may have any address and any strides: nothing has checked them.
    const std::uint64_t offset = bytes == 0 ? 0 : reinterpret_cast<std::uint64_t>(operand.data);
    for (int d = 0; bytes == 0 && d < operand.strides.count(); ++d) operand.strides[d] = 0;
    operand.data = at(offset);
    if (operand.access == Access::write || poisoned.empty()) continue;
    std::vector<ByteRange> parts;
    poisoned.common({offset, bytes}, parts);
    if (parts.empty()) continue;
    std::byte* read = at(offset);
    if (operand.access == Access::read) {
      read = copies.emplace_back(read, read + bytes).data();
      operand.data = read;
    }
    for (const ByteRange& part : parts) std::memset(read + (part.start - offset), 0xFF, part.bytes);
  }
  kernels::run(placed);
}

void DeviceMemory::write(std::uint64_t destination, const std::byte* source, std::uint64_t bytes) {
  if (has_data()) std::memcpy(at(destination), source, bytes);
}

void DeviceMemory::read(std::byte* destination, std::uint64_t source, std::uint64_t bytes) {
  if (has_data()) std::memcpy(destination, at(source), bytes);
}

void DeviceMemory::copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  if (has_data()) std::memmove(at(destination), at(source), bytes);
}

}  // namespace labrig::sim
