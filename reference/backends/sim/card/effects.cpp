// Effects: a queue a stream, merged by operation number when they are carried out.
#include "card/effects.hpp"

#include <algorithm>
#include <cstring>

namespace labrig::sim {
namespace {

constexpr int kPoison = 0xFF;
constexpr std::size_t kMostUnused = 2048;

}  // namespace

void PoisonSet::add(const ByteRange& range) {
  set_.add(range);
  if (set_.pieces() <= kMaxPieces) return;
  const ByteRange whole{set_.ranges().front().start, set_.ranges().back().end() - set_.ranges().front().start};
  set_.add(whole);
}

// The copy has brought the source's bytes along: those that it should not have seen become poison.
void Effects::poison_copy(const Effect& effect, std::byte* destination) {
  for (const ByteRange& range : effect.poisoned.ranges()) {
    std::memset(destination + (range.start - effect.source), kPoison, range.bytes);
  }
}

void Effects::run(const Effect& effect) {
  if (effect.kind == Effect::Kind::none || !memory_.has_data() || dropped_.load(std::memory_order_relaxed)) return;
  for (const ByteRange& range : effect.undefined.ranges()) memory_.poison(range.start, range.bytes);
  const bool to_arena = effect.kind == Effect::Kind::down;
  switch (effect.kind) {
    case Effect::Kind::none:
      break;
    case Effect::Kind::kernel:
      if (const auto bad = memory_.run(*effect.call, effect.poisoned.set()); bad && effect.poisoned.empty()) {
        on_bad_index_(effect, *bad);
      }
      break;
    case Effect::Kind::up:
      memory_.write(effect.destination, regions_.arena() + effect.source, effect.bytes);
      break;
    case Effect::Kind::captured:
      memory_.write(effect.destination, effect.captured.data(), effect.captured.size());
      break;
    case Effect::Kind::down:
      memory_.read(regions_.arena() + effect.destination, effect.source, effect.bytes);
      break;
    case Effect::Kind::within:
      memory_.copy(effect.destination, effect.source, effect.bytes);
      break;
  }
  if (effect.kind != Effect::Kind::kernel && !effect.poisoned.empty()) {
    poison_copy(effect, to_arena ? regions_.arena() + effect.destination : memory_.at(effect.destination));
  }
  for (const ByteRange& range : effect.contested.ranges()) {
    std::memset(to_arena ? regions_.arena() + range.start : memory_.at(range.start), kPoison, range.bytes);
  }
}

Effects::PendingPtr Effects::unused() {
  if (unused_.empty()) return std::make_unique<Pending>();
  PendingPtr pending = std::move(unused_.back());
  unused_.pop_back();
  return pending;
}

void Effects::add(const Operation& operation, Effect&& effect) {
  if (operation.stream >= streams_.size()) streams_.resize(std::size_t{operation.stream} + 1);
  captured_bytes_ += effect.captured.size();
  PendingPtr pending = unused();
  pending->operation = operation;
  pending->effect = std::move(effect);
  if (pending->effect.call != nullptr) {
    pending->call = *pending->effect.call;
    pending->effect.call = &pending->call;
  }
  streams_[operation.stream].push_back(std::move(pending));
  ++count_;
}

Effect* Effects::pending(const Operation& operation) {
  if (operation.stream >= streams_.size()) return nullptr;
  auto& queue = streams_[operation.stream];
  const auto found = std::lower_bound(
      queue.begin(), queue.end(), operation.sequence,
      [](const PendingPtr& pending, std::uint64_t sequence) { return pending->operation.sequence < sequence; });
  if (found == queue.end() || (*found)->operation.sequence != operation.sequence) return nullptr;
  return &(*found)->effect;
}

void Effects::run_front(StreamIndex stream) {
  auto& queue = streams_[stream];
  PendingPtr pending = std::move(queue.front());
  queue.pop_front();
  run(pending->effect);
  captured_bytes_ -= pending->effect.captured.size();
  pending->effect = {};
  if (unused_.size() < kMostUnused) unused_.push_back(std::move(pending));
  --count_;
}

void Effects::reach(const Clock& frontier) {
  ready_.clear();
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const auto index = static_cast<StreamIndex>(stream);
    for (const PendingPtr& pending : streams_[stream]) {
      if (pending->operation.sequence > frontier.of(index)) break;
      ready_.emplace_back(pending->operation.number, index);
    }
  }
  std::sort(ready_.begin(), ready_.end());
  for (const auto& [number, stream] : ready_) run_front(stream);
}

void Effects::carry_out_all() {
  ready_.clear();
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    for (const PendingPtr& pending : streams_[stream]) {
      ready_.emplace_back(pending->operation.number, static_cast<StreamIndex>(stream));
    }
  }
  std::sort(ready_.begin(), ready_.end());
  for (const auto& [number, stream] : ready_) run_front(stream);
}

}  // namespace labrig::sim
