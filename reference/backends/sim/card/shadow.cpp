// Shadow: splitting, entering, forgetting.
#include "card/shadow.hpp"

#include <algorithm>

namespace labrig::sim {

// A range that lies across `at` becomes two with the same entries.
void Shadow::split(std::uint64_t at) {
  auto next = ranges_.lower_bound(at);
  if (next == ranges_.begin()) return;
  Range& before = std::prev(next)->second;
  if (before.end <= at) return;
  for (const Track& track : before.tracks) entries_ += track.writes.size() + track.reads.size();
  ranges_.emplace_hint(next, at, Range{before.end, before.tracks});
  before.end = at;
}

void Shadow::enter(Range& range, bool write, const Entry& entry, const Clock& frontier) {
  auto track = std::find_if(range.tracks.begin(), range.tracks.end(),
                            [&](const Track& candidate) { return candidate.stream == entry.stream; });
  if (track == range.tracks.end()) track = range.tracks.insert(range.tracks.end(), Track{entry.stream, {}, {}});
  std::vector<Entry>& list = write ? track->writes : track->reads;
  // One operation may read the same bytes through two operands.
  if (!list.empty() && list.back().sequence == entry.sequence) {
    list.back().possible = list.back().possible && entry.possible;
    return;
  }
  entries_ -= list.size();
  if (!list.empty() && list.back().sequence <= frontier.of(entry.stream)) list.clear();
  if (list.size() == kHistory) list.erase(list.begin(), list.begin() + kHistory / 2);
  list.push_back(entry);
  entries_ += list.size();
}

void Shadow::sweep_when_large(const Clock& frontier) {
  if (ranges_.size() <= sweep_at_ && entries_ <= sweep_entries_at_) return;
  sweep(frontier);
  sweep_at_ = std::max(kSweepAt, 2 * ranges_.size());
  sweep_entries_at_ = std::max(kSweepEntriesAt, 2 * entries_);
}

void Shadow::sweep(const Clock& frontier) {
  entries_ = 0;
  const auto drop_past = [&](std::vector<Entry>& list) {
    std::erase_if(list, [&](const Entry& entry) { return entry.sequence <= frontier.of(entry.stream); });
    entries_ += list.size();
    return list.empty();
  };
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    std::vector<Track>& tracks = range->second.tracks;
    std::erase_if(tracks, [&](Track& track) {
      const bool no_writes = drop_past(track.writes), no_reads = drop_past(track.reads);
      return no_writes && no_reads;
    });
    range = tracks.empty() ? ranges_.erase(range) : std::next(range);
  }
}

}  // namespace labrig::sim
