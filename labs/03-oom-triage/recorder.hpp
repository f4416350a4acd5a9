// Reads the memory of a card while a training loop runs on it, as a MemoryHistory. For the judge and for tests; the
// loops are in faulty_loops.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "labrig/history.hpp"
#include "labrig/memory.hpp"

namespace oom_triage {

class Recorder {
 public:
  Recorder(labrig::Device device, std::size_t context_bytes) : device_(device) {
    history_.card = {labrig::mem_get_info(device).total_bytes, context_bytes};
  }

  // What is made from now on belongs to `phase`. Call it where nothing is on its way: a block keeps its phase as long
  // as it is held.
  void begin(const std::string& phase) {
    if (phase == phase_) return;
    note_phases();
    phase_ = phase;
  }

  void row(std::int64_t step, std::int64_t batch) {
    history_.rows.push_back({step, phase_, batch, labrig::memory_allocated(device_), labrig::memory_reserved(device_),
                             labrig::max_memory_allocated(device_), labrig::mem_get_info(device_).free_bytes,
                             labrig::largest_free_block(device_)});
    labrig::reset_peak_memory_stats(device_);
  }

  // Who holds what at the last row.
  void owners() {
    note_phases();
    std::map<std::pair<std::string, std::string>, labrig::HistoryOwner> groups;
    for (const labrig::MemoryHolders& block : labrig::memory_holders(device_)) {
      labrig::HistoryOwner& group = groups[{phases_.at(block.address), op_of(block)}];
      ++group.blocks;
      group.bytes += block.bytes;
    }
    for (auto& [key, group] : groups) {
      group.row = static_cast<std::int64_t>(history_.rows.size()) - 1;
      group.phase = key.first;
      group.op = key.second;
      history_.owners.push_back(group);
    }
  }

  void failed(std::int64_t step, const labrig::OutOfMemory& facts) {
    history_.failure = {step,
                        phase_,
                        facts.asked_by,
                        facts.requested_bytes,
                        facts.segment_bytes,
                        facts.allocated_bytes,
                        facts.reserved_bytes,
                        facts.card.free_bytes,
                        facts.largest_free_block_bytes};
  }

  const std::string& phase() const { return phase_; }
  labrig::MemoryHistory take() { return std::move(history_); }

 private:
  // Blocks that are gone lose their phase, and new ones get the present one.
  void note_phases() {
    std::map<const void*, std::string> now;
    for (const labrig::MemoryHolders& block : labrig::memory_holders(device_)) {
      const auto known = phases_.find(block.address);
      now[block.address] = known == phases_.end() ? phase_ : known->second;
    }
    phases_ = std::move(now);
  }

  // "0.weight" is a parameter, "exp_avg of '0.weight'" the optimizer's, "gradient of '0.weight'" a gradient; what an
  // operator made is called after it.
  static std::string op_of(const labrig::MemoryHolders& block) {
    for (const std::string& holder : block.holders)
      if (holder.starts_with("gradient of")) return "gradient";
    if (block.name.starts_with("checkpoint")) return "checkpoint";
    if (block.name.find(" of '") != std::string::npos) return "optimizer";
    if (block.name.ends_with(".weight") || block.name.ends_with(".bias")) return "model";
    return block.name.empty() ? "tensor" : block.name;
  }

  labrig::Device device_;
  labrig::MemoryHistory history_;
  std::string phase_ = "load";
  std::map<const void*, std::string> phases_;
};

}  // namespace oom_triage
