// What was done to every byte of one memory space lately, and by whom. An ordered map of ranges; each keeps, a stream,
// the operations that wrote it and those that read it:
//
//   bytes     0 ........ 4096 ....... 8192
//   writes    stream 1: 5, 7   |  stream 1: 7
//   reads     stream 2: 3      |  (none)
//
// A new access splits ranges at its ends. Entries that the host is ordered after can never conflict again and are
// dropped when they are in the way. Read next: ledger.hpp.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "card/order.hpp"

namespace labrig::sim {

// What an operation is called in messages.
struct Who {
  enum class Kind : std::uint8_t { host, kernel, upload, download, within, peer } kind = Kind::host;
  std::uint8_t kernel = 0;
  std::uint8_t inputs = 0;      // of a kernel; more than `names` holds are not named
  std::uint32_t names[3] = {};  // a kernel's inputs; a copy's source and destination
  bool operator==(const Who&) const = default;
  auto operator<=>(const Who&) const = default;
};

// One operation's access to a range.
struct Entry {
  std::uint64_t sequence = 0;   // in its stream
  std::uint64_t operation = 0;  // in the order of submission to the machine
  std::uint64_t block = 0;      // the block it went to; 0: none was announced
  std::uint32_t buffer = 0;     // the name it used
  StreamIndex stream = 0;
  bool possible = false;  // known only by its outer bounds
  Who who;
};

class Shadow {
 public:
  // Calls found(entry, entry is a write, start, bytes) for every earlier access that `clock` is not ordered after and
  // that conflicts: with a read every write, with a write everything.
  template <class Found>
  void meet(std::uint64_t start, std::uint64_t bytes, bool write, const Clock& clock, Found found) const;
  // The same, and enters the access itself.
  template <class Found>
  void access(std::uint64_t start, std::uint64_t bytes, bool write, const Entry& entry, const Clock& clock,
              const Clock& frontier, Found found);
  std::size_t ranges() const { return ranges_.size(); }
  // Accesses kept, over all ranges: what the memory of this table grows with.
  std::size_t entries() const { return entries_; }
  // Drops what lies at or below the frontier.
  void sweep(const Clock& frontier);

 private:
  // At most this many accesses of one kind of a stream are kept a range: more are not counted, but never missed,
  // because whoever is not ordered after an older one is not ordered after the newest.
  static constexpr std::size_t kHistory = 64;
  static constexpr std::size_t kSweepAt = 4096, kSweepEntriesAt = std::size_t{1} << 16;

  struct Track {
    StreamIndex stream;
    std::vector<Entry> writes, reads;
  };
  struct Range {
    std::uint64_t end;
    std::vector<Track> tracks;
  };
  using Ranges = std::map<std::uint64_t, Range>;

  template <class Found>
  static void meet_range(const Range& range, std::uint64_t start, std::uint64_t end, bool write, const Clock& clock,
                         Found& found);
  void enter(Range& range, bool write, const Entry& entry, const Clock& frontier);
  void split(std::uint64_t at);
  void sweep_when_large(const Clock& frontier);

  Ranges ranges_;
  std::size_t entries_ = 0;
  std::size_t sweep_at_ = kSweepAt, sweep_entries_at_ = kSweepEntriesAt;
};

template <class Found>
void Shadow::meet_range(const Range& range, std::uint64_t start, std::uint64_t end, bool write, const Clock& clock,
                        Found& found) {
  const auto meet_list = [&](const std::vector<Entry>& list, bool written) {
    // From the newest back: the first that is ordered stands for all before it.
    for (auto entry = list.rbegin(); entry != list.rend(); ++entry) {
      if (entry->sequence <= clock.of(entry->stream)) return;
      found(*entry, written, start, end - start);
    }
  };
  for (const Track& track : range.tracks) {
    meet_list(track.writes, true);
    if (write) meet_list(track.reads, false);
  }
}

template <class Found>
void Shadow::meet(std::uint64_t start, std::uint64_t bytes, bool write, const Clock& clock, Found found) const {
  const std::uint64_t end = start + bytes;
  auto next = ranges_.upper_bound(start);
  if (next != ranges_.begin()) --next;
  for (; next != ranges_.end() && next->first < end; ++next) {
    const std::uint64_t from = std::max(start, next->first), to = std::min(end, next->second.end);
    if (from < to) meet_range(next->second, from, to, write, clock, found);
  }
}

template <class Found>
void Shadow::access(std::uint64_t start, std::uint64_t bytes, bool write, const Entry& entry, const Clock& clock,
                    const Clock& frontier, Found found) {
  const std::uint64_t end = start + bytes;
  // Most accesses are to a whole tensor, as the one before.
  if (const auto same = ranges_.find(start); same != ranges_.end() && same->second.end == end) {
    meet_range(same->second, start, end, write, clock, found);
    enter(same->second, write, entry, frontier);
    return sweep_when_large(frontier);
  }
  split(start);
  split(end);
  auto next = ranges_.lower_bound(start);
  for (std::uint64_t at = start; at < end; ++next) {
    if (next == ranges_.end() || next->first > at) {
      const std::uint64_t gap_end = next == ranges_.end() ? end : std::min(end, next->first);
      next = ranges_.emplace_hint(next, at, Range{gap_end, {}});
    }
    meet_range(next->second, at, next->second.end, write, clock, found);
    enter(next->second, write, entry, frontier);
    at = next->second.end;
  }
  sweep_when_large(frontier);
}

}  // namespace labrig::sim
