// Clock and Order: joins of vectors.
#include "card/order.hpp"

#include <algorithm>

namespace labrig::sim {

void Clock::set(StreamIndex stream, std::uint64_t number) {
  if (stream >= numbers_.size()) numbers_.resize(std::size_t{stream} + 1);
  numbers_[stream] = number;
}

bool Clock::join(const Clock& other) {
  if (other.numbers_.size() > numbers_.size()) numbers_.resize(other.numbers_.size());
  std::uint64_t grown = 0;
  for (std::size_t i = 0; i < other.numbers_.size(); ++i) {
    const std::uint64_t most = std::max(numbers_[i], other.numbers_[i]);
    grown |= most ^ numbers_[i];
    numbers_[i] = most;
  }
  return grown != 0;
}

StreamIndex Order::add_stream(std::uint16_t device, std::uint16_t id, bool blocking) {
  const auto index = static_cast<StreamIndex>(streams_.size());
  streams_.push_back({device, id, blocking, 0, 0, {}});
  if (device >= blocking_.size()) blocking_.resize(std::size_t{device} + 1);
  if (blocking) blocking_[device].push_back(index);
  return index;
}

// Every action of a stream comes after the host's frontier. One of the default stream comes after all earlier work of
// the blocking streams of its device, and theirs after its.
void Order::act(Stream& stream) {
  if (stream.seen_version != version_) {
    stream.clock.join(frontier_);
    stream.seen_version = version_;
  }
  if (!stream.blocking) return;
  for (const StreamIndex other : blocking_[stream.device]) {
    const Stream& peer = streams_[other];
    if (&peer != &stream && (stream.id == 0 || peer.id == 0)) stream.clock.join(peer.clock);
  }
}

std::uint64_t Order::submit(StreamIndex index) {
  Stream& stream = streams_[index];
  act(stream);
  stream.clock.set(index, ++stream.count);
  return stream.count;
}

const Clock& Order::record(StreamIndex index) {
  act(streams_[index]);
  return streams_[index].clock;
}

void Order::wait(StreamIndex index, const Clock& recorded) {
  act(streams_[index]);
  streams_[index].clock.join(recorded);
}

void Order::reach(const Clock& clock) {
  if (frontier_.join(clock)) ++version_;
}

void Order::reach_device(std::uint16_t device) {
  for (const Stream& stream : streams_) {
    if (stream.device == device) reach(stream.clock);
  }
}

void Order::reach_all() {
  for (const Stream& stream : streams_) reach(stream.clock);
}

}  // namespace labrig::sim
