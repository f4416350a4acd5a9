#include "doctor/card_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace labrig::doctor {
namespace {

std::uint64_t mib(std::uint64_t bytes) { return bytes >> 20; }

Facts number_or_null(const std::optional<std::uint64_t>& bytes) { return bytes ? Facts(mib(*bytes)) : Facts(); }

std::string process_text(const CardProcess& process) {
  std::string text = fmt::format("{} ({})", process.name.empty() ? "a process" : process.name, process.pid);
  if (process.bytes) text += fmt::format(" {} MiB", mib(*process.bytes));
  return text;
}

Facts to_facts(const MemoryFacts& card, const HeldMemory& held) {
  Facts processes = Facts::array();
  for (const CardProcess& process : held.others)
    processes.push_back({{"pid", process.pid},
                         {"name", process.name.empty() ? Facts() : Facts(process.name)},
                         {"mib", number_or_null(process.bytes)}});
  return {{"device", card.device},
          {"total_mib", mib(card.total_bytes)},
          {"free_mib", mib(card.free_bytes)},
          {"driver_mib", mib(held.driver_bytes)},
          {"this_process_mib", number_or_null(held.this_bytes)},
          {"others_mib", number_or_null(held.other_bytes)},
          {"method", held.method},
          {"processes", processes},
          {"processes_complete", held.others_are_complete}};
}

std::string to_line(const MemoryFacts& card, const HeldMemory& held) {
  const std::string head =
      fmt::format("{} {} of {} MiB free", card.device, mib(card.free_bytes), mib(card.total_bytes));
  if (!held.this_bytes || !held.other_bytes) return head + "; who holds the rest is not known (no NVML in reach)";
  std::string text = fmt::format("{}; this process {}, others {}", head, mib(*held.this_bytes), mib(*held.other_bytes));
  for (const CardProcess& process : held.others) text += ", " + process_text(process);
  if (!held.others_are_complete) text += " (not all can be seen from here)";
  return text;
}

}  // namespace

HeldMemory held_memory(const MemoryFacts& facts) {
  HeldMemory held;
  if (!facts.after) return held;
  const NvmlCard& now = *facts.after;
  held.driver_bytes = now.reserved_bytes;
  for (const CardProcess& process : now.processes) {
    if (process.pid == facts.self) {
      held.this_bytes = process.bytes;
      held.method = process.bytes ? "process-list" : held.method;
    } else {
      held.others.push_back(process);
    }
  }
  if (!held.this_bytes && facts.before) {
    held.method = "before-and-after";
    held.this_bytes = now.used_bytes - std::min(now.used_bytes, facts.before->used_bytes);
  }
  if (!held.this_bytes) return held;
  held.other_bytes = now.used_bytes - std::min(now.used_bytes, *held.this_bytes);
  std::uint64_t listed = 0;
  for (const CardProcess& process : held.others) listed += process.bytes.value_or(0);
  constexpr std::uint64_t kRounding = std::uint64_t{64} << 20;
  held.others_are_complete = now.lists_processes && listed + kRounding >= *held.other_bytes;
  return held;
}

Check card_memory(const std::vector<MemoryFacts>& cards) {
  const std::string id = "card-memory";
  if (cards.empty()) return skipped(id, "no card is in use");
  Facts rows = Facts::array();
  std::string text, full;
  for (const MemoryFacts& card : cards) {
    const HeldMemory held = held_memory(card);
    rows.push_back(to_facts(card, held));
    text += (text.empty() ? "" : "; ") + to_line(card, held);
    constexpr std::uint64_t kNeeded = std::uint64_t{512} << 20;
    if (card.free_bytes < kNeeded) full += (full.empty() ? "" : ", ") + card.device;
  }
  Facts facts = {{"cards", rows}};
  if (full.empty()) return passed(id, text, facts);
  return warned(id,
                {text, "less than 512 MiB are free on " + full + ": even small measurements may not fit",
                 "end what holds it (`nvidia-smi` lists it), or choose another card: `export CUDA_VISIBLE_DEVICES=1`"},
                facts);
}

}  // namespace labrig::doctor
