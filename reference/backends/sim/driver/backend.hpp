// The `sim` backend: labrig::Backend over the ring. One object a card; all share the client of their machine.
// Read next: client.hpp.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <mutex>
#include <vector>

#include "device/backend.hpp"
#include "driver/client.hpp"

namespace labrig::sim {

// The cards of one machine, in order.
std::vector<std::unique_ptr<Backend>> make_backends(std::shared_ptr<Client> client);
// The client of the machine that is attached to this process; null when there is none.
Client* attached_client();

class SimBackend final : public Backend {
 public:
  // `events` hands out the event numbers of the whole machine.
  struct EventNumbers {
    std::mutex mutex;
    std::vector<EventId> free;
    EventId next = 0;
  };

  SimBackend(std::shared_ptr<Client> client, std::shared_ptr<EventNumbers> events, int index);
  Client& client() { return *client_; }

  Device device() const override { return {DeviceType::sim, index_}; }
  std::string describe() const override;
  MemoryInfo memory_info() override;
  std::string lacks_bf16() const override;

  void* driver_malloc(std::size_t bytes) override;
  void driver_free(void* memory) override;
  bool has_pages() const override { return client_->map().has_pages(index_); }
  void* reserve_range(std::size_t bytes) override;
  void release_range(void* address, std::size_t bytes) override;
  bool map_pages(void* address, std::size_t bytes) override;
  void unmap_pages(void* address, std::size_t bytes) override;
  void note_alloc(void* block, std::size_t requested, std::size_t block_bytes, std::string_view name) override;
  void note_free(void* block) override;
  void note_name(void* block, std::string_view name) override;
  void* pinned_malloc(std::size_t bytes) override;
  void pinned_free(void* memory) override;
  void note_pinned_alloc(void* block, std::size_t requested, std::size_t block_bytes, std::string_view name) override;
  void note_pinned_free(void* block) override;
  std::size_t pinned_limit_bytes() const override { return client_->handles().arena_bytes; }

  void copy(const CopyRequest& request) override;
  void launch(const KernelCall& call, StreamId stream) override;
  void host_work(const KernelCost& cost, std::string_view name = {}) override;
  void mark_loop() override;
  int open_worker() override;
  void queue_job(int worker, const JobCost& cost) override;
  void take_job(int worker) override;
  void close_worker(int worker) override;
  void host_access(const void* address, std::size_t bytes, bool write, std::string_view name = {}) override;
  void note_fetch(const void* address, std::size_t bytes, StreamId stream, std::string_view name) override;
  std::int64_t clock_ns() override;

  StreamId create_stream() override;
  void synchronize_stream(StreamId stream, trace::Cause cause) override;
  void synchronize_device(trace::Cause cause) override;
  bool query_stream(StreamId stream) override;
  EventId create_event(bool timing) override;
  void destroy_event(EventId event) override;
  void record_event(EventId event, StreamId stream) override;
  void wait_event(EventId event, StreamId stream, Backend& owner) override;
  void synchronize_event(EventId event) override;
  bool query_event(EventId event) override;
  double elapsed_ms(EventId from, EventId to) override;

 private:
  Target target(StreamId stream = 0, std::string_view name = {}) const {
    return {static_cast<std::uint16_t>(index_), stream, name};
  }
  void copy_pinned(const CopyRequest& request);

  std::shared_ptr<Client> client_;
  std::shared_ptr<EventNumbers> events_;
  int index_;
  // As PyTorch's pool: that many streams, made when they are first needed, handed out in turn.
  static constexpr int kPoolStreams = 32;
  std::mutex pool_mutex_;
  int pool_made_ = 0, pool_next_ = 0;
  std::bitset<kMaxWorkers> workers_;  // that a loader has
};

}  // namespace labrig::sim
