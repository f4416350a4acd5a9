// Findings: groups and wording.
#include "card/findings.hpp"

#include <algorithm>

#include "card/ledger.hpp"
#include "ops/kernel.hpp"

namespace labrig::sim {
namespace {

bool is_copy(const Who& who) { return who.kind != Who::Kind::host && who.kind != Who::Kind::kernel; }
std::string noun(const Who& who) { return is_copy(who) ? "copy" : "kernel"; }

// What may go wrong on a card, said of the later operation.
std::string danger(Hazard::Kind kind) {
  switch (kind) {
    case Hazard::Kind::read_after_write:
      return "on a card the later one may see old bytes, or half of the new ones";
    case Hazard::Kind::write_after_read:
      return "on a card the earlier one may see the new bytes, or half of them";
    case Hazard::Kind::write_after_write:
    case Hazard::Kind::freed_in_flight:
      break;
  }
  return "on a card the bytes of either may stay, or some of both";
}

}  // namespace

std::string Findings::what(const Who& who) const {
  if (who.kind == Who::Kind::host) return "the host";
  if (who.kind == Who::Kind::kernel) {
    const auto kernel = kernel_from_index(who.kernel);
    std::string text = "kernel '" + std::string(kernel ? name_of(*kernel) : "?") + "(";
    for (std::size_t i = 0; i < who.inputs; ++i) {
      if (i > 0) text += ", ";
      if (i == std::size(who.names)) return text + "…)'";
      const std::string& name = names_.text(who.names[i]);
      text += name.empty() ? "unnamed" : name;
    }
    return text + ")'";
  }
  static constexpr const char* kVerbs[] = {"", "", "upload", "download", "copy", "copy"};
  const std::string& from = names_.text(who.names[0]);
  const std::string& to = names_.text(who.names[1]);
  std::string text = std::string("copy '") + kVerbs[static_cast<std::size_t>(who.kind)];
  text += " " + (from.empty() ? std::string("unnamed") : from);
  if (!to.empty() && to != from) text += " to " + to;
  return text + "'";
}

std::string Findings::place(std::uint16_t device, std::uint16_t stream) const {
  std::string text = "stream " + std::to_string(stream);
  if (several_cards_) text += " of sim:" + std::to_string(device);
  return text;
}

std::string Findings::buffer_name(std::uint32_t name) const {
  const std::string& text = names_.text(name);
  return text.empty() ? "an unnamed tensor" : "'" + text + "'";
}

std::uint64_t Findings::add(const Later& later, std::span<const Conflict> conflicts, std::span<const MemoryAccess> accesses) {
  if (conflicts.empty()) return 0;
  // Each earlier operation is one pair, of the kind that was met first.
  std::vector<const Conflict*> pairs;
  for (const Conflict& conflict : conflicts) pairs.push_back(&conflict);
  std::stable_sort(pairs.begin(), pairs.end(), [](const Conflict* a, const Conflict* b) {
    return std::tie(a->earlier.number, a->possible) < std::tie(b->earlier.number, b->possible);
  });
  std::uint64_t count = 0, previous = 0;
  for (const Conflict* conflict : pairs) {
    if (conflict->earlier.number == previous) continue;
    previous = conflict->earlier.number;
    const MemoryAccess& access = accesses[conflict->access];
    if (conflict->possible) {
      add_note("possible hazard: " + what(later.who) + " and " + what(conflict->entry.who) + " may touch the same bytes of " +
               buffer_name(access.buffer) + ", and nothing orders them; a view in more than 4,096 pieces is only known by its ends");
      continue;
    }
    ++count;
    const bool reuse = conflict->other_block;
    const auto kind = reuse ? Hazard::Kind::freed_in_flight : conflict->kind;
    const auto [found, is_new] =
        index_.try_emplace(Key{kind, conflict->entry.who, later.who, later.frees}, groups_.size());
    if (!is_new) {
      ++groups_[found->second].count;
    } else if (groups_.size() < kKept) {
      groups_.push_back(describe(later, *conflict, access));
    } else {
      index_.erase(found);
    }
  }
  return count;
}

Hazard Findings::describe(const Later& later, const Conflict& conflict, const MemoryAccess& access) const {
  Hazard hazard;
  hazard.kind = conflict.other_block ? Hazard::Kind::freed_in_flight : conflict.kind;
  const StreamIndex stream = conflict.earlier.stream;
  hazard.earlier = {what(conflict.entry.who), false, order_.device_of(stream), order_.id_of(stream),
                    conflict.earlier.number};
  hazard.later = {what(later.who), later.who.kind == Who::Kind::host, later.device, later.stream, later.operation};
  const std::uint32_t buffer = later.frees ? conflict.entry.buffer : access.buffer;
  hazard.buffer = names_.text(buffer).empty() ? "an unnamed tensor" : names_.text(buffer);
  hazard.offset = conflict.start - (access.block == 0 ? access.start : access.block_start);
  hazard.bytes = conflict.bytes;
  hazard.count = 1;
  if (conflict.other_block) {
    word_reuse(hazard, later, conflict);
  } else {
    word(hazard, later, conflict);
  }
  return hazard;
}

void Findings::word(Hazard& hazard, const Later& later, const Conflict& conflict) const {
  const Hazard::Side& first = hazard.earlier;
  const Hazard::Side& second = hazard.later;
  const std::string buffer = hazard.buffer == "an unnamed tensor" ? hazard.buffer : "'" + hazard.buffer + "'";
  const std::string where = place(first.device, first.stream);
  const std::string later_where = second.host ? "" : " on " + place(second.device, second.stream);
  hazard.text = "hazard: " + second.what + later_where +
                (hazard.kind == Hazard::Kind::read_after_write ? " reads " : " writes ") + buffer +
                " without waiting for " + first.what + " on " + where;
  if (hazard.kind == Hazard::Kind::write_after_read) hazard.text += ", which reads it";
  hazard.text += "\n  why: nothing orders " +
                 (second.host ? std::string("the host") : "operation " + std::to_string(second.operation)) +
                 " after operation " + std::to_string(first.operation) + " (bytes " + std::to_string(hazard.offset) +
                 " to " + std::to_string(hazard.offset + hazard.bytes - 1) + " of " + buffer + "); " +
                 danger(hazard.kind);
  const std::string done = "after the " + noun(conflict.entry.who);
  if (second.host) {
    hazard.text += "\n  fix: synchronize with " + where + ", or with an event recorded there " + done +
                   ", before the host touches the memory";
  } else {
    hazard.text += "\n  fix: record an event on " + where + " " + done + " and let " +
                   place(second.device, second.stream) + " wait for it before the " + noun(later.who);
  }
}

// Memory that got a new owner while an operation of the old one was on its way.
void Findings::word_reuse(Hazard& hazard, const Later& later, const Conflict& conflict) const {
  const Hazard::Side& first = hazard.earlier;
  const Hazard::Side& second = hazard.later;
  const std::string where = place(first.device, first.stream);
  const std::string still = " while " + first.what + " on " + where + " may still " +
                            (conflict.kind == Hazard::Kind::write_after_read ? "read it" : "write it");
  const std::string before = buffer_name(conflict.entry.buffer);
  if (later.frees) {
    hazard.text = "hazard: pinned memory of " + before + " was freed" + still +
                  "\n  why: giving pinned memory back does not wait for the card, and nothing orders the host after operation " +
                  std::to_string(first.operation) + "\n  fix: synchronize with " + where +
                  ", or with an event recorded there after the " + noun(conflict.entry.who) +
                  ", before the memory is given back";
    return;
  }
  const std::string after = hazard.buffer == "an unnamed tensor" ? hazard.buffer : "'" + hazard.buffer + "'";
  hazard.text = "hazard: memory of " + before + " was handed out again as " + after + still +
                "\n  why: a block is free as soon as its last tensor is gone, and nothing orders " +
                (second.host ? second.what
                             : "operation " + std::to_string(second.operation) + " (" + second.what + " on " +
                                   place(second.device, second.stream) + ")") +
                " after operation " + std::to_string(first.operation) + "\n  fix: call record_stream(" + where + ") on " +
                before + " before it is freed, or let " +
                (second.host ? std::string("the host") : place(second.device, second.stream)) + " wait for " + where +
                " before the memory is used again";
}

void Findings::note_undefined(const Who& who, std::uint32_t buffer, std::uint64_t bytes) {
  if (notes_.size() >= kShown) return;
  const std::string tail = " of " + buffer_name(buffer) + " that nothing has written";
  const std::string subject = what(who);
  if (!noted_.insert(subject + tail).second) return;
  notes_.push_back(subject + " reads " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + tail);
}

void Findings::add_note(std::string text) {
  if (notes_.size() < kShown && noted_.insert(text).second) notes_.push_back(std::move(text));
}

void Findings::clear() {
  groups_.clear();
  index_.clear();
  notes_.clear();
  noted_.clear();
}

std::vector<Hazard> Findings::hazards() const {
  std::vector<Hazard> shown(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, groups_.size())));
  for (Hazard& hazard : shown) {
    if (hazard.count > 1) hazard.text.insert(hazard.text.find('\n'), " (" + std::to_string(hazard.count) + " times)");
  }
  return shown;
}

}  // namespace labrig::sim
