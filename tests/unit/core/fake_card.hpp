// A card for tests of the core: a backend in host memory that carries everything out at once and writes down what it
// was asked for. `AttachedCard` makes it sim:0 for a scope.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/backend.hpp"

namespace labrig::test {

struct FakeCard final : Backend {
  struct Copy {
    CopyDirection direction;
    std::size_t bytes;
    bool pinned, non_blocking;
    trace::Cause cause;
    StreamId stream;
    std::string name;
  };
  struct Launch {
    Kernel kernel;
    bool hidden;
    StreamId stream;
  };
  struct Note {
    std::size_t requested, block_bytes;
    std::string name;
  };
  struct Access {
    const void* address;
    std::size_t bytes;
    bool write;
  };
  // What outlives the card, so that a test can look at it after the card is gone.
  struct Log {
    std::vector<Copy> copies;
    std::vector<Launch> launches;
    std::vector<Note> allocs;
    std::vector<trace::Cause> syncs;
    std::vector<KernelCost> host_work;
    std::vector<std::string> order;  // "sim:0 record 1 in 2", "sim:0 wait for 1 in 2", "sim:0 copy in 2"
    std::vector<std::string> names;  // given after the allocation
    std::vector<Note> pinned_allocs;
    std::vector<Access> accesses;
    std::size_t frees = 0, pinned = 0, pinned_frees = 0, streams = 0, events = 0;
  };

  explicit FakeCard(std::shared_ptr<Log> the_log, int index = 0, std::size_t the_capacity = std::size_t{64} << 20)
      : log(std::move(the_log)), index_(index), capacity(the_capacity) {}
  ~FakeCard() override {
    for (const auto& [memory, bytes] : segments) std::free(memory);
    for (void* memory : pinned) std::free(memory);
  }

  Device device() const override { return {DeviceType::sim, index_}; }
  std::string describe() const override { return device().str() + ": a card for tests"; }
  MemoryInfo memory_info() override { return {capacity - used, capacity}; }

  void* driver_malloc(std::size_t bytes) override {
    if (bytes > capacity - used) return nullptr;
    void* memory = std::aligned_alloc(512, bytes);
    used += bytes;
    segments[memory] = bytes;
    return memory;
  }
  void driver_free(void* memory) override {
    used -= segments.at(memory);
    segments.erase(memory);
    std::free(memory);
  }
  void note_alloc(void*, std::size_t requested, std::size_t block_bytes, std::string_view name) override {
    log->allocs.push_back({requested, block_bytes, std::string(name)});
  }
  void note_free(void*) override {
    ++log->frees;
    if (dead) throw Error("card-gone", "the card does not answer", "it is a card for tests", "ask another");
  }
  void note_name(void*, std::string_view name) override { log->names.emplace_back(name); }
  void note_pinned_alloc(void*, std::size_t requested, std::size_t block_bytes, std::string_view name) override {
    log->pinned_allocs.push_back({requested, block_bytes, std::string(name)});
  }
  void note_pinned_free(void*) override { ++log->pinned_frees; }
  std::size_t pinned_limit_bytes() const override { return capacity; }
  void* pinned_malloc(std::size_t bytes) override {
    if (bytes > capacity) return nullptr;
    ++log->pinned;
    return *pinned.insert(std::malloc(bytes)).first;
  }
  void pinned_free(void* memory) override {
    --log->pinned;
    pinned.erase(memory);
    std::free(memory);
  }

  void copy(const CopyRequest& request) override {
    std::memcpy(request.destination, request.source, request.bytes);
    log->copies.push_back({request.direction, request.bytes, request.pinned, request.non_blocking, request.cause,
                           request.stream, std::string(request.name)});
    log->order.push_back(device().str() + " copy in " + std::to_string(request.stream));
  }
  void launch(const KernelCall& call, StreamId stream) override {
    log->launches.push_back({call.kernel, call.kernel == Kernel::copy && call.scalars[0] != 0, stream});
    in_kernel = true;
    backend_of(Device{}).launch(call, 0);
    in_kernel = false;
  }
  void host_work(const KernelCost& cost, std::string_view) override {
    if (!in_kernel) log->host_work.push_back(cost);
  }
  void host_access(const void* address, std::size_t bytes, bool write, std::string_view) override {
    log->accesses.push_back({address, bytes, write});
  }

  StreamId create_stream() override { return static_cast<StreamId>(++log->streams); }
  void synchronize_stream(StreamId, trace::Cause cause) override { log->syncs.push_back(cause); }
  void synchronize_device(trace::Cause cause) override { log->syncs.push_back(cause); }
  bool query_stream(StreamId) override { return true; }
  EventId create_event(bool /*timing*/) override {
    ++log->events;
    return ++last_event;
  }
  void destroy_event(EventId) override { --log->events; }
  void record_event(EventId event, StreamId stream) override {
    log->order.push_back(device().str() + " record " + std::to_string(event) + " in " + std::to_string(stream));
  }
  void wait_event(EventId event, StreamId stream, Backend& owner) override {
    ++waits;
    log->order.push_back(device().str() + " wait for " + std::to_string(event) + " of " + owner.device().str() +
                         " in " + std::to_string(stream));
  }
  void synchronize_event(EventId) override { log->syncs.push_back(trace::Cause::asked); }
  bool query_event(EventId) override { return events_done; }
  double elapsed_ms(EventId, EventId) override { return 1.5; }

  std::shared_ptr<Log> log;
  const int index_;
  std::size_t capacity, used = 0;
  std::map<void*, std::size_t> segments;
  std::set<void*> pinned;
  EventId last_event = 0;
  int waits = 0;
  bool in_kernel = false;
  bool events_done = true;
  bool dead = false;  // throws when memory is given back
};

class AttachedCard {
 public:
  explicit AttachedCard(int cards = 1) {
    std::vector<std::unique_ptr<Backend>> backends;
    for (int i = 0; i < cards; ++i) backends.push_back(std::make_unique<FakeCard>(log_, i));
    card_ = static_cast<FakeCard*>(backends[0].get());
    attach_sim_backends(std::move(backends));
  }
  ~AttachedCard() { detach_sim_backends(); }
  AttachedCard(const AttachedCard&) = delete;
  AttachedCard& operator=(const AttachedCard&) = delete;

  FakeCard::Log* operator->() { return log_.get(); }
  FakeCard& card() { return *card_; }
  const std::shared_ptr<FakeCard::Log>& log() const { return log_; }

 private:
  std::shared_ptr<FakeCard::Log> log_ = std::make_shared<FakeCard::Log>();
  FakeCard* card_;
};

}  // namespace labrig::test
