// Who is ordered after whom. Every operation has a number within its stream, 1, 2, …; a clock says, for every stream of
// every card, up to which number somebody is ordered after its operations:
//
//   stream 1   ──up 1──────up 2──●record            clock of stream 1 at the record: {1: 2}
//   stream 2   ──matmul 1──────────○wait──matmul 2  clock of matmul 2: {1: 2, 2: 2}; of matmul 1: {2: 1}
//
// Operation m of stream t is ordered before an operation with clock C exactly if m <= C[t]. Order comes from streams,
// from events, from the default stream's rule, and from the host, which is a clock as well: the frontier. Nothing here
// knows of time. Read next: ledger.hpp (who asks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace labrig::sim {

using StreamIndex = std::uint16_t;  // of the whole machine, in order of creation; default streams come first

class Clock {
 public:
  std::uint64_t of(StreamIndex stream) const { return stream < numbers_.size() ? numbers_[stream] : 0; }
  void set(StreamIndex stream, std::uint64_t number);
  // After this and after `other`. True when that is more than before.
  bool join(const Clock& other);
  std::size_t size() const { return numbers_.size(); }

 private:
  std::vector<std::uint64_t> numbers_;
};

class Order {
 public:
  // Stream 0 of a device is its default stream.
  StreamIndex add_stream(std::uint16_t device, std::uint16_t id, bool blocking);
  std::size_t streams() const { return streams_.size(); }
  std::uint16_t device_of(StreamIndex stream) const { return streams_[stream].device; }
  std::uint16_t id_of(StreamIndex stream) const { return streams_[stream].id; }

  // The number of a new operation of the stream, whose clock is clock() from now on.
  std::uint64_t submit(StreamIndex stream);
  // What an event stands for when it is recorded now.
  const Clock& record(StreamIndex stream);
  // All that follows in the stream comes after what was recorded.
  void wait(StreamIndex stream, const Clock& recorded);
  const Clock& clock(StreamIndex stream) const { return streams_[stream].clock; }

  // What the host is ordered after.
  const Clock& frontier() const { return frontier_; }
  // Counts up whenever the frontier grows.
  std::uint64_t frontier_version() const { return version_; }
  void reach(const Clock& clock);
  void reach_device(std::uint16_t device);
  void reach_all();

 private:
  struct Stream {
    std::uint16_t device, id;
    bool blocking;
    std::uint64_t count = 0;         // operations
    std::uint64_t seen_version = 0;  // of the frontier that `clock` contains
    Clock clock;                     // of the newest action
  };
  void act(Stream& stream);

  std::vector<Stream> streams_;
  std::vector<std::vector<StreamIndex>> blocking_;  // of each device, the default stream first
  Clock frontier_;
  std::uint64_t version_ = 0;
};

}  // namespace labrig::sim
