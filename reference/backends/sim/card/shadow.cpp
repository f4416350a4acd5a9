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
  if (!list.empty() && list.back().sequence <= frontier.of(entry.stream)) list.clear();
  if (list.size() == kHistory) list.erase(list.begin(), list.begin() + kHistory / 2);
  list.push_back(entry);
}

void Shadow::sweep_when_large(const Clock& frontier) {
  if (ranges_.size() <= sweep_at_) return;
  sweep(frontier);
  sweep_at_ = std::max(kSweepAt, 2 * ranges_.size());
}

void Shadow::sweep(const Clock& frontier) {
  const auto past = [&](const std::vector<Entry>& list) {
    return list.empty() || list.back().sequence <= frontier.of(list.back().stream);
  };
  std::erase_if(ranges_, [&](const auto& range) {
    return std::all_of(range.second.tracks.begin(), range.second.tracks.end(),
                       [&](const Track& track) { return past(track.writes) && past(track.reads); });
  });
}

}  // namespace labrig::sim
