// The cuda backend: one object for one card. It owns what lives as long as the card is used: streams with their scratch
// memory, events, the cuBLAS handle, the log of launches. Safe to use from several host threads; each call makes its
// card current for as long as it runs. The host waits only where device/backend.hpp says so. Read next: launch.hpp
// (kernels), probe.cpp (how one is made).
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "handles.hpp"
#include "launch.hpp"
#include "launch_log.hpp"
#include "linear.hpp"
#include "pages.hpp"

namespace labrig::cuda {

class CudaBackend final : public Backend {
 public:
  // Creates the CUDA context of card `index`, which exists. Throws when the card cannot be used.
  explicit CudaBackend(int index);
  ~CudaBackend() override;

  Device device() const override { return {DeviceType::cuda, index_}; }
  std::string describe() const override;
  MemoryInfo memory_info() override;
  std::string lacks_bf16() const override;

  // Those that give memory back never throw: destructors end here, some of them after the runtime's own end.
  void* driver_malloc(std::size_t bytes) override;
  void driver_free(void* memory) override;
  bool has_pages() const override { return pages_.supported(); }
  void* reserve_range(std::size_t bytes) override;
  void release_range(void* address, std::size_t bytes) override;
  bool map_pages(void* address, std::size_t bytes) override;
  void unmap_pages(void* address, std::size_t bytes) override;
  void* pinned_malloc(std::size_t bytes) override;
  void pinned_free(void* memory) override;

  void copy(const CopyRequest& request) override;
  void launch(const KernelCall& call, StreamId stream) override;

  // As in PyTorch, there are 32 streams beside the default one; further calls hand them out again in turn.
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
  static constexpr std::size_t kStreams = 33;  // the default stream included

  struct StreamState {
    StreamHandle handle;  // null: CUDA's own default stream
    DeviceMemory scratch;
  };

  // An event, and the newest launch of its stream when it was recorded.
  struct EventState {
    EventHandle handle;
    StreamId stream = 0;
    std::uint64_t launch = 0;
  };

  // For the length of a call: the card is current, and errors look into its log.
  struct OnCard {
    explicit OnCard(const CudaBackend& backend) : log(backend.log_.get()), device(backend.index_) {}
    LaunchLog::Scope log;
    CurrentDevice device;
  };

  StreamState new_stream(bool is_default) const;
  // References into a deque stay valid while it grows.
  const StreamState& stream_of(StreamId stream);
  cudaEvent_t event_of(EventId event);
  // The host has seen that the card reached the event.
  void event_passed(EventId event);
  void wait_for(StreamId stream);
  void launch_with(const KernelCall& call, LaunchContext& context);

  const int index_;
  cudaDeviceProp properties_{};
  Pages pages_;
  std::size_t scratch_bytes_ = 0;

  std::mutex lock_;  // guards streams_, events_, free_events_
  std::deque<StreamState> streams_;
  std::size_t streams_created_ = 0;
  std::vector<EventState> events_;  // an EventId is an index; empty handles are listed in free_events_
  std::vector<EventId> free_events_;

  // Held while a kernel that uses scratch memory is queued: another host thread's launches must not come between the
  // two of a reduction, and the cuBLAS handle has one current stream.
  std::mutex scratch_lock_;
  BlasHandle blas_;
  LinearPlans linear_plans_;

  std::unique_ptr<LaunchLog> log_;
  bool blocking_ = false;  // wait after each launch, so that an error comes from the call that made it
};

}  // namespace labrig::cuda
