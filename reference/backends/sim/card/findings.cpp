// Findings: groups and wording.
#include "card/findings.hpp"

#include <algorithm>

#include "ops/kernel.hpp"

namespace labrig::sim {
namespace {

bool is_copy(const Who& who) { return who.kind != Who::Kind::host && who.kind != Who::Kind::kernel; }
std::string noun(const Who& who) { return who.kind == Who::Kind::host ? "host" : is_copy(who) ? "copy" : "kernel"; }

// What may go wrong on a card.
std::string danger(Hazard::Kind kind, const Who& earlier, const Who& later) {
  const bool alike = noun(earlier) == noun(later);
  switch (kind) {
    case Hazard::Kind::read_after_write:
      return "on a card the " + (alike ? "later one" : noun(later)) + " may see old bytes, or half of the new ones";
    case Hazard::Kind::write_after_read:
      return "on a card the " + (alike ? "earlier one" : noun(earlier)) + " may see the new bytes, or half of them";
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
  if (cards_ > 1) text += " of sim:" + std::to_string(device);
  return text;
}

std::string Findings::buffer_name(std::uint32_t name) const {
  const std::string& text = names_.text(name);
  return text.empty() ? "an unnamed tensor" : "'" + text + "'";
}

std::uint64_t Findings::add(const Later& later, std::span<const Conflict> conflicts,
                            std::span<const MemoryAccess> accesses) {
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
      note_possible(later.who, conflict->entry.who, access.buffer);
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
      groups_.push_back({later, *conflict, access});
    } else {
      index_.erase(found);
    }
  }
  return count;
}

void Findings::name_block(std::uint64_t block, std::uint32_t name) {
  for (Group& group : groups_) {
    if (group.access.block == block && group.access.buffer == 0) group.access.buffer = name;
  }
}

Hazard Findings::describe(const Group& group) const {
  const auto& [later, conflict, access, count] = group;
  Hazard hazard;
  hazard.kind = conflict.other_block ? Hazard::Kind::freed_in_flight : conflict.kind;
  const StreamIndex stream = conflict.earlier.stream;
  hazard.earlier = {what(conflict.entry.who), false, order_.device_of(stream), order_.id_of(stream),
                    conflict.earlier.number};
  hazard.later = {what(later.who), later.who.kind == Who::Kind::host, later.device, later.stream, later.operation};
  const std::uint32_t buffer = later.frees ? conflict.entry.buffer : access.buffer;
  hazard.buffer = names_.text(buffer);
  hazard.offset = conflict.start - (access.block == 0 ? access.start : access.block_start);
  hazard.bytes = conflict.bytes;
  hazard.count = count;
  hazard.time_ps = later.time_ps;
  hazard.text = conflict.other_block ? worded_reuse(hazard, group, buffer_name(buffer))
                                     : worded(hazard, group, buffer_name(buffer));
  if (count > 1) hazard.text.insert(hazard.text.find('\n'), " (" + std::to_string(count) + " times)");
  return hazard;
}

std::string Findings::worded(const Hazard& hazard, const Group& group, const std::string& buffer) const {
  const Hazard::Side& first = hazard.earlier;
  const Hazard::Side& second = hazard.later;
  const std::string where = place(first.device, first.stream);
  const std::string here = second.host ? "" : place(second.device, second.stream);
  std::string text = "hazard: " + second.what + (second.host ? "" : " on " + here);
  text += hazard.kind == Hazard::Kind::read_after_write ? " reads " : " writes ";
  text += buffer + " without waiting for " + first.what + " on " + where;
  if (hazard.kind == Hazard::Kind::write_after_read) text += ", which reads it";
  text += "\n  why: nothing orders " +
          (second.host ? std::string("the host") : "operation " + std::to_string(second.operation)) +
          " after operation " + std::to_string(first.operation) + " (bytes " + std::to_string(hazard.offset) + " to " +
          std::to_string(hazard.offset + hazard.bytes - 1) + " of " + buffer + "); " +
          danger(hazard.kind, group.conflict.entry.who, group.later.who);
  const std::string after = " after the " + noun(group.conflict.entry.who);
  if (second.host) {
    return text + "\n  fix: synchronize with " + where + ", or with an event recorded there" + after +
           ", before the host touches the memory";
  }
  return text + "\n  fix: record an event on " + where + after + " and let " + here + " wait for it before the " +
         noun(group.later.who);
}

// Memory that got a new owner while an operation of the old one was on its way.
std::string Findings::worded_reuse(const Hazard& hazard, const Group& group, const std::string& buffer) const {
  const Hazard::Side& first = hazard.earlier;
  const Hazard::Side& second = hazard.later;
  const std::string where = place(first.device, first.stream);
  const bool reads = group.conflict.kind == Hazard::Kind::write_after_read;
  const std::string still = " while " + first.what + " on " + where + " may still " + (reads ? "read it" : "write it");
  const std::string after = " after operation " + std::to_string(first.operation);
  const std::string before = buffer_name(group.conflict.entry.buffer);
  if (group.later.frees) {
    const bool pinned = group.conflict.space == cards_;  // the arena comes after the cards
    return "hazard: " +
           (pinned ? "pinned memory of " + before + " was freed" : "memory of " + before + " was unmapped") + still +
           "\n  why: " + (pinned ? "giving pinned memory back" : "unmapping pages") +
           " does not wait for the card, and nothing orders the host" + after + "\n  fix: synchronize with " + where +
           ", or with an event recorded there after the " + noun(group.conflict.entry.who) +
           ", before the memory is given back";
  }
  const std::string here = second.host ? "the host" : place(second.device, second.stream);
  const std::string who = second.host ? "the host" : "operation " + std::to_string(second.operation);
  const std::string whose = group.conflict.space == cards_ ? "pinned " : "the card's ";
  return "hazard: " + whose + "memory of " + before + " was handed out again as " + buffer + ", and " +
         (second.host ? here : second.what + " on " + here) + (group.access.write ? " writes" : " reads") + " there," +
         still + "\n  why: a block is free as soon as its last tensor is gone, and nothing orders " + who + after +
         "\n  fix: call record_stream(" + where + ") on " + whose + before + " before it is freed, or let " + here +
         " wait for " + where + " before the memory is used again";
}

void Findings::note_undefined(const Who& who, std::uint32_t buffer, std::uint64_t bytes) {
  if (notes_.size() >= kShown || !noted_.emplace(who, Who{}, buffer).second) return;
  notes_.push_back(what(who) + " reads " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + " of " +
                   buffer_name(buffer) + " that nothing has written");
}

void Findings::note_possible(const Who& later, const Who& earlier, std::uint32_t buffer) {
  if (notes_.size() >= kShown || !noted_.emplace(later, earlier, buffer).second) return;
  notes_.push_back("possible hazard: " + what(later) + " and " + what(earlier) + " may touch the same bytes of " +
                   buffer_name(buffer) +
                   ", and nothing orders them; a view in more than 4,096 pieces is only known by its ends");
}

void Findings::clear() {
  groups_.clear();
  index_.clear();
  notes_.clear();
  noted_.clear();
}

std::vector<Hazard> Findings::hazards() const {
  std::vector<Hazard> shown;
  for (std::size_t i = 0; i < std::min(kShown, groups_.size()); ++i) shown.push_back(describe(groups_[i]));
  return shown;
}

}  // namespace labrig::sim
