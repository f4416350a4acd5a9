// DeviceMemory: one private mapping over the ranges of all cards; pages exist once they are touched.
#include "card/device_memory.hpp"

#include <sys/mman.h>

#include <cstring>

#include "labrig/error.hpp"
#include "ops/strided.hpp"

namespace labrig::sim {
namespace {

// Nobody may read what the block held before.
void poison_elements(const Operand& out) {
  const auto element = static_cast<std::int64_t>(element_bytes(out.dtype));
  kernels::Walk<1>({&out}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::memset(first[0] + i * strides[0] * element, 0xFF, static_cast<std::size_t>(element));
    }
  });
}

}  // namespace

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

std::optional<kernels::BadIndex> DeviceMemory::run(const KernelCall& call, const RangeSet& poisoned) {
  if (!has_data()) return std::nullopt;
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
  try {
    kernels::run(placed);
    return std::nullopt;
  } catch (const kernels::BadIndex& bad) {
    for (const Operand& operand : placed.all()) {
      if (operand.access == Access::write) poison_elements(operand);
    }
    return bad;
  }
}

void DeviceMemory::write(std::uint64_t destination, const std::byte* source, std::uint64_t bytes) {
  if (has_data()) std::memcpy(at(destination), source, bytes);
}

void DeviceMemory::read(std::byte* destination, std::uint64_t source, std::uint64_t bytes) {
  if (has_data()) {
    std::memcpy(destination, at(source), bytes);
  } else {
    std::memset(destination, 0, bytes);
  }
}

void DeviceMemory::copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  if (has_data()) std::memmove(at(destination), at(source), bytes);
}

}  // namespace labrig::sim
