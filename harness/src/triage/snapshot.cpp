// What a snapshot says. A request that failed is judged by the rules of shortage_rules.cpp; what held the memory then
// is found by undoing the events that came after it.
#include "triage/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "memory/rounding.hpp"
#include "triage/amount.hpp"
#include "triage/shortage.hpp"

namespace labrig::triage {
namespace {

constexpr std::size_t kOwners = 5;  // of the largest groups of blocks

// Of one device, at the moment of the snapshot.
struct Holdings {
  double allocated = 0, reserved = 0, awaiting = 0, in_pieces = 0, largest_free = 0;
  std::size_t segments = 0;
  std::map<std::string, std::pair<double, std::size_t>> owners;  // bytes and blocks by frame
};

Holdings holdings_of(const Snapshot& snapshot, int device) {
  Holdings h;
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    ++h.segments;
    h.reserved += segment.bytes;
    double inactive = 0;
    for (const SnapshotBlock& block : segment.blocks) {
      if (block.state == "active_allocated") {
        h.allocated += block.bytes;
        auto& [bytes, blocks] = h.owners[block.frame];
        bytes += block.bytes, ++blocks;
      } else if (block.state == "inactive") {
        inactive += block.bytes;
        h.largest_free = std::max(h.largest_free, block.bytes);
      } else {
        h.awaiting += block.bytes;
      }
    }
    if (inactive < segment.bytes) h.in_pieces += inactive;
  }
  return h;
}

// The last failed request of a device; -1 for none.
std::ptrdiff_t last_failure(const std::vector<SnapshotEvent>& events) {
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(events.size()) - 1; i >= 0; --i)
    if (events[static_cast<std::size_t>(i)].action == "oom") return i;
  return -1;
}

// What was held when event `at` happened. `changed`: anything came after it.
struct Then {
  double allocated = 0, reserved = 0;
  bool changed = false;
};
Then held_at(const Holdings& now, const std::vector<SnapshotEvent>& events, std::ptrdiff_t at) {
  Then then{now.allocated, now.reserved, false};
  for (std::size_t i = events.size(); i-- > static_cast<std::size_t>(at + 1);) {
    const SnapshotEvent& event = events[i];
    if (event.action == "alloc") then.allocated -= event.bytes, then.changed = true;
    if (event.action == "free_requested") then.allocated += event.bytes, then.changed = true;
    if (event.action == "segment_alloc" || event.action == "segment_map")
      then.reserved -= event.bytes, then.changed = true;
    if (event.action == "segment_free" || event.action == "segment_unmap")
      then.reserved += event.bytes, then.changed = true;
  }
  then.allocated = std::max(0.0, then.allocated);
  then.reserved = std::max(then.allocated, then.reserved);
  return then;
}

void say_who_holds(const Holdings& h, Diagnosis& d) {
  std::vector<std::pair<std::string, std::pair<double, std::size_t>>> owners(h.owners.begin(), h.owners.end());
  std::stable_sort(owners.begin(), owners.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  if (owners.empty() || (owners.size() == 1 && owners[0].first.empty())) {
    d.unread.push_back(
        "who made the blocks: the snapshot has no frames (record_memory_history before the run gives them)");
    return;
  }
  for (std::size_t i = 0; i < owners.size() && i < kOwners; ++i)
    d.evidence.push_back(fmt::format("{} in {} blocks made at {}", exactly(owners[i].second.first).text,
                                     owners[i].second.second,
                                     owners[i].first.empty() ? "places without a frame" : owners[i].first));
}

Diagnosis of_failure(const Holdings& now, const std::vector<SnapshotEvent>& events, std::ptrdiff_t at) {
  const SnapshotEvent& failure = events[static_cast<std::size_t>(at)];
  const Then then = held_at(now, events, at);
  Shortage shortage;
  // The trace has the rounded request; the driver was asked for a segment. Sizes that no size type holds stay as they
  // are.
  const double asked = failure.bytes < 1e18
                           ? static_cast<double>(segment_bytes(static_cast<std::size_t>(failure.bytes)))
                           : failure.bytes;
  shortage.requested = exactly(asked);
  shortage.free = exactly(failure.free_bytes);
  shortage.allocated = exactly(then.allocated);
  shortage.reserved = exactly(then.reserved);
  Diagnosis d = diagnose(std::move(shortage));
  if (!then.changed)
    d.evidence.push_back(fmt::format("largest free block in the cache {}, in split segments {} in all",
                                     exactly(now.largest_free).text, exactly(now.in_pieces).text));
  else
    d.unread.push_back(
        "the largest free block at the failure: the snapshot was taken later, and what was held then was "
        "computed back from the trace");
  const auto failures =
      std::count_if(events.begin(), events.end(), [](const SnapshotEvent& e) { return e.action == "oom"; });
  if (failures > 1) d.evidence.push_back(fmt::format("{} requests failed; the last one is judged", failures));
  return d;
}

Diagnosis without_failure(const Holdings& h) {
  Diagnosis d;
  d.evidence.push_back(fmt::format(
      "{} segments: reserved {}, allocated {}, in split segments {}, largest free block {}", h.segments,
      exactly(h.reserved).text, exactly(h.allocated).text, exactly(h.in_pieces).text, exactly(h.largest_free).text));
  d.cause = "healthy";
  d.title = "No request failed in this snapshot: reserved above allocated is caching";
  d.todo = {"nothing; to find a leak, compare who holds blocks in two snapshots some steps apart"};
  d.avoid = {"do not call empty_cache to make reserved smaller"};
  if (h.reserved > 0 && h.in_pieces > 0.5 * h.reserved) {
    d.title = "No request failed, but half of the cache lies in pieces: a large request may fail";
    d.todo = {"allocate large tensors first, keep shapes fixed, or set expandable_segments:True"};
  }
  return d;
}

Diagnosis of_device(const Snapshot& snapshot, int device) {
  static const std::vector<SnapshotEvent> kNone;
  const auto index = static_cast<std::size_t>(device);
  const std::vector<SnapshotEvent>& events = index < snapshot.events.size() ? snapshot.events[index] : kNone;
  const Holdings holdings = holdings_of(snapshot, device);
  const std::ptrdiff_t failure = last_failure(events);
  Diagnosis d = failure >= 0 ? of_failure(holdings, events, failure) : without_failure(holdings);
  d.kind = "snapshot";
  d.subject = fmt::format("device {}", device);
  if (holdings.awaiting > 0)
    d.evidence.push_back(
        fmt::format("{} are freed but wait for other streams (record_stream)", exactly(holdings.awaiting).text));
  say_who_holds(holdings, d);
  if (!snapshot.settings.empty()) d.evidence.push_back("allocator settings: " + snapshot.settings);
  if (events.empty()) d.unread.push_back("the trace: the snapshot has no events of this device");
  d.unread.insert(d.unread.end(), snapshot.unread.begin(), snapshot.unread.end());
  d.unread.push_back("memory outside this cache (other processes): a snapshot does not hold it");
  return d;
}

}  // namespace

Diagnosis diagnose(const Snapshot& snapshot) {
  std::vector<int> devices;
  for (std::size_t i = 0; i < snapshot.events.size(); ++i)
    if (!snapshot.events[i].empty()) devices.push_back(static_cast<int>(i));
  for (const SnapshotSegment& segment : snapshot.segments) devices.push_back(segment.device);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  if (devices.empty()) devices.push_back(0);
  std::vector<Diagnosis> parts;
  for (const int device : devices) parts.push_back(of_device(snapshot, device));
  if (parts.size() == 1) return parts.front();
  const auto failed = std::find_if(parts.begin(), parts.end(), [](const Diagnosis& d) { return d.cause != "healthy"; });
  Diagnosis d = failed == parts.end() ? parts.front() : *failed;
  d.parts = std::move(parts);
  return d;
}

}  // namespace labrig::triage
