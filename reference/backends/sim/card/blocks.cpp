// BlockTable: live blocks by address, and the memory of those that are gone.
#include "card/blocks.hpp"

#include <algorithm>
#include <unordered_map>

#include "ops/kernel.hpp"

namespace labrig::sim {
namespace {

constexpr std::size_t kFreedRemembered = 4096;

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

}  // namespace

bool BlockTable::announce(std::uint64_t start, std::uint64_t requested_bytes, std::uint64_t block_bytes,
                          std::uint32_t name) {
  const auto next = live_.lower_bound(start);
  if (next != live_.end() && next->first - start < block_bytes) return false;
  if (next != live_.begin()) {
    const Block& before = std::prev(next)->second;
    if (start - before.start < before.block_bytes) return false;
  }
  Block& block =
      live_.emplace_hint(next, start, Block{next_id_++, start, requested_bytes, block_bytes, name, {}, 0})->second;
  if (map_ != nullptr) block.undefined.add({start, requested_bytes});  // what the host writes is not seen
  return true;
}

std::optional<Block> BlockTable::free(std::uint64_t start) {
  const auto found = live_.find(start);
  if (found == live_.end()) return std::nullopt;
  Block block = std::move(found->second);
  block.undefined.clear();
  live_.erase(found);
  if (block.id < peak_end_id_) freed_since_peak_.push_back({block.block_bytes, block.name, block.maker});
  freed_.push_back(block);
  if (freed_.size() > kFreedRemembered) freed_.pop_front();
  return block;
}

BlockTable::Total BlockTable::free_all_in(std::uint64_t start, std::uint64_t bytes) {
  Total total;
  for (auto next = live_.lower_bound(start); next != live_.end() && next->first - start < bytes;
       next = live_.lower_bound(start)) {
    const auto block = free(next->first);
    total.requested_bytes += block->requested_bytes;
    total.block_bytes += block->block_bytes;
  }
  return total;
}

void BlockTable::mark_peak() {
  peak_end_id_ = next_id_;
  freed_since_peak_.clear();
}

std::vector<Peak::Alive> BlockTable::at_peak(std::size_t most) const {
  // Numbers first: there may be a million blocks, and few names.
  std::unordered_map<std::uint64_t, Peak::Alive> by_number;
  const auto add = [&](std::uint64_t bytes, std::uint32_t name, std::uint8_t maker) {
    Peak::Alive& all = by_number[name != 0 ? name : std::uint64_t{maker} << 32];
    all.bytes += bytes;
    ++all.count;
  };
  for (const auto& [start, block] : live_)
    if (block.id < peak_end_id_) add(block.block_bytes, block.name, block.maker);
  for (const Gone& block : freed_since_peak_) add(block.bytes, block.name, block.maker);

  std::map<std::string, Peak::Alive> by_name;
  for (const auto& [number, all] : by_number) {
    const auto kernel =
        number >> 32 == 0 ? std::nullopt : kernel_from_index(static_cast<std::uint16_t>((number >> 32) - 1));
    const std::string name = kernel              ? std::string(name_of(*kernel))
                             : number >> 32 == 0 ? names_.text(static_cast<std::uint32_t>(number))
                                                 : std::string();
    Peak::Alive& same = by_name[name.empty() ? "unnamed" : name];
    same.bytes += all.bytes;
    same.count += all.count;
  }
  std::vector<Peak::Alive> alive;
  for (auto& [name, all] : by_name) alive.push_back({name, all.bytes, all.count});
  std::ranges::stable_sort(alive, std::ranges::greater(), &Peak::Alive::bytes);
  if (alive.size() <= most) return alive;
  Peak::Alive others{"others", 0, 0};
  for (std::size_t i = most - 1; i < alive.size(); ++i) {
    others.bytes += alive[i].bytes;
    others.count += alive[i].count;
  }
  alive.resize(most - 1);
  alive.push_back(std::move(others));
  return alive;
}

Block* BlockTable::starting(std::uint64_t start) {
  const auto found = live_.find(start);
  return found == live_.end() ? nullptr : &found->second;
}

const Block* BlockTable::first_in(std::uint64_t start, std::uint64_t bytes) const {
  if (const Block* block = around(start)) return block;
  const auto next = live_.lower_bound(start);
  return next != live_.end() && next->first - start < bytes ? &next->second : nullptr;
}

std::string BlockTable::text(std::uint64_t address) const {
  return map_ != nullptr ? map_->text(address) : "byte " + std::to_string(address) + " of the pinned memory";
}

Block* BlockTable::holding(std::uint64_t address, std::uint64_t bytes) {
  auto next = live_.upper_bound(address);
  if (next == live_.begin()) return nullptr;
  Block& block = (--next)->second;
  if (bytes > block.requested_bytes || address - block.start > block.requested_bytes - bytes) return nullptr;
  return &block;
}

const Block* BlockTable::around(std::uint64_t address) const {
  auto next = live_.upper_bound(address);
  if (next == live_.begin()) return nullptr;
  const Block& block = (--next)->second;
  return address - block.start < block.block_bytes ? &block : nullptr;
}

const Block* BlockTable::freed_around(std::uint64_t address) const {
  const auto found = std::find_if(freed_.rbegin(), freed_.rend(), [&](const Block& block) {
    return address >= block.start && address - block.start < block.block_bytes;
  });
  return found == freed_.rend() ? nullptr : &*found;
}

Violation BlockTable::missed(const std::string& who, std::uint64_t address, std::uint64_t bytes) const {
  if (const Block* block = around(address)) {
    const std::uint64_t inside = address - block->start;
    const std::uint64_t past = bytes > block->requested_bytes || inside > block->requested_bytes - bytes
                                   ? inside + std::min(bytes, ~std::uint64_t{0} - inside) - block->requested_bytes
                                   : 0;
    return {"out-of-bounds",
            who + " " + bytes_text(bytes) + " at " + text(address) + ", up to " + bytes_text(past) +
                " past the end of " + quoted(names_.text(block->name)),
            "the tensor has " + bytes_text(block->requested_bytes) + ", and the access starts at byte " +
                std::to_string(inside),
            "check the sizes, strides and offset of the view that is used there"};
  }
  if (const Block* block = freed_around(address)) {
    return {"use-after-free",
            who + " " + bytes_text(bytes) + " at " + text(address) + ", in " + quoted(names_.text(block->name)) +
                ", which is freed",
            "the memory went back to the allocator when the last tensor on it was destroyed",
            "keep a tensor (not a pointer) alive until the work that uses it is queued"};
  }
  return {"bad-address", who + " " + bytes_text(bytes) + " at " + text(address) + ", where there is no tensor",
          "no live block was announced for these bytes",
          map_ != nullptr ? "use the memory of a tensor that lives on this device"
                          : "use the memory of a pinned tensor that is alive"};
}

}  // namespace labrig::sim
