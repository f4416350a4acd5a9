// What a device must be able to do. One object a device; the tensor layer knows nothing else of it. Entry points that
// a backend need not offer have a default that says so.
//
//   cpu    backends/cpu    runs kernels at once in the calling thread
//   sim    backends/sim    writes commands for the simulated card into a ring
//   cuda   backends/cuda   a shared library of its own, loaded when the first cuda device is asked for
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/device.hpp"
#include "labrig/error.hpp"
#include "labrig/export.hpp"
#include "labrig/memory.hpp"
#include "labrig/trace.hpp"
#include "ops/kernel.hpp"

namespace labrig {

using StreamId = std::uint16_t;  // 0: the default stream
using EventId = std::uint32_t;

enum class CopyDirection : std::uint8_t { up, down, within, peer };

struct CopyRequest {
  CopyDirection direction{};
  void* destination = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;
  bool pinned = false;                       // the host side is pinned memory of this process
  bool non_blocking = false;                 // return as early as the memory allows; otherwise when the copy is done
  trace::Cause cause = trace::Cause::asked;  // asked, hidden (a copy nobody asked for), value (item())
  StreamId stream = 0;                       // of the card that carries the copy out: for `peer` the source's
  std::string_view name;                     // of the source tensor
  Device peer = {};                          // for `peer`: the card of `destination`; both are of one type
};

// What the operators of a loader's job did on the host, added up.
struct JobCost {
  std::uint64_t flops = 0, bytes = 0, calls = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Device device() const = 0;
  // One line for a person: name, memory, capability.
  virtual std::string describe() const = 0;
  virtual MemoryInfo memory_info() = 0;
  // Why kernels cannot compute in bf16 here, as in "t4 has compute capability 7.5"; empty where they can.
  virtual std::string lacks_bf16() const { return {}; }

  // --- memory ------------------------------------------------------------------------------------------------
  // The driver's own allocation (cudaMalloc): aligned to 512 bytes; null when the card has no room.
  virtual void* driver_malloc(std::size_t bytes) = 0;
  virtual void driver_free(void* memory) = 0;  // waits for the whole device
  // Pages, for expandable segments: a range of addresses with nothing behind it, and memory put there page by page.
  // Addresses and bytes are multiples of 2 MiB. A range has no pages when it goes.
  virtual bool has_pages() const { return false; }
  virtual void* reserve_range(std::size_t /*bytes*/) { return nullptr; }  // null when no addresses are left
  virtual void release_range(void* /*address*/, std::size_t /*bytes*/) {}
  // All of it, or (false) nothing, when the card has no room.
  virtual bool map_pages(void* /*address*/, std::size_t /*bytes*/) { return false; }
  virtual void unmap_pages(void* /*address*/, std::size_t /*bytes*/) {}  // does not wait for the card
  // A block of the caching allocator now belongs to a tensor, or no longer does.
  virtual void note_alloc(void* /*block*/, std::size_t /*requested*/, std::size_t /*block_bytes*/,
                          std::string_view /*name*/) {}
  virtual void note_free(void* /*block*/) {}
  // The tensor in a block of the card, or in pinned memory, got (another) name.
  virtual void note_name(void* /*block*/, std::string_view /*name*/) {}
  // Host memory that the card reaches by itself; null when there is none left.
  virtual void* pinned_malloc(std::size_t bytes) = 0;
  virtual void pinned_free(void* memory) = 0;
  // A block of the pinned allocator now belongs to a tensor, or no longer does.
  virtual void note_pinned_alloc(void* /*block*/, std::size_t /*requested*/, std::size_t /*block_bytes*/,
                                 std::string_view /*name*/) {}
  virtual void note_pinned_free(void* /*block*/) {}
  // The most host memory that the card can reach, in bytes; 0 when nobody knows.
  virtual std::size_t pinned_limit_bytes() const { return 0; }

  // --- work --------------------------------------------------------------------------------------------------
  virtual void copy(const CopyRequest& request) = 0;
  virtual void launch(const KernelCall& call, StreamId stream) = 0;
  // Host arithmetic that the clock of a simulated machine must know about; nothing elsewhere. `name` is for charts.
  virtual void host_work(const KernelCost& /*cost*/, std::string_view /*name*/ = {}) {}
  // The loop that a lab counts apart starts at the first mark and ends at the last; simulated machines only.
  virtual void mark_loop() {}
  // Workers of a loader, each with a clock of its own on a simulated machine, beside that of the host; nothing
  // elsewhere. A job begins when it is queued, or when its worker is done with the one before; take_job() makes the
  // host wait for the oldest one that was not taken. Closing a worker forgets its jobs. Throws `too-many-workers`.
  virtual int open_worker() { return 0; }
  virtual void queue_job(int /*worker*/, const JobCost& /*cost*/) {}
  virtual void take_job(int /*worker*/) {}
  virtual void close_worker(int /*worker*/) {}
  // The steady clock that the host's calls are timed with: virtual on a simulated machine.
  virtual std::int64_t clock_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  // The host reads or writes these bytes now (by an operator on the CPU, or through a pointer that was handed out).
  // Only pinned memory of a simulated machine matters; anything else is ignored. `name` is that of the tensor, which
  // may be a view; without one the card says what it calls the memory.
  virtual void host_access(const void* /*address*/, std::size_t /*bytes*/, bool /*write*/,
                           std::string_view /*name*/ = {}) {}
  // A harness reads these bytes of the card next, as by a copy in `stream`: a simulated card looks whether that copy is
  // ordered after the work on them. It takes no time.
  virtual void note_fetch(const void* /*address*/, std::size_t /*bytes*/, StreamId /*stream*/,
                          std::string_view /*name*/) {}

  // --- order -------------------------------------------------------------------------------------------------
  virtual StreamId create_stream() = 0;
  virtual void synchronize_stream(StreamId stream, trace::Cause cause) = 0;
  virtual void synchronize_device(trace::Cause cause) = 0;
  virtual bool query_stream(StreamId stream) = 0;
  // Without `timing` the event orders work and has no time to tell.
  virtual EventId create_event(bool timing) = 0;
  virtual void destroy_event(EventId event) = 0;
  virtual void record_event(EventId event, StreamId stream) = 0;
  // `owner` is the backend that created the event: a stream may wait for work of another card of the same type.
  virtual void wait_event(EventId event, StreamId stream, Backend& owner) = 0;
  virtual void synchronize_event(EventId event) = 0;
  virtual bool query_event(EventId event) = 0;
  virtual double elapsed_ms(EventId from, EventId to) = 0;
};

// --- the registry (reference/src/device/registry.cpp) ---------------------------------------------------------
// The backend of a device. Opens the cuda library, or starts an in-process simulated machine (profile
// LABRIG_SIM_PROFILE, default "desktop"), when its first device is asked for and none is attached. Throws
// `invalid-device` with the reason.
LABRIG_API Backend& backend_of(Device device);
// Attach the cards of a simulated machine (in place of the automatic one), in order of their numbers; detach before
// the machine goes away. Both drop all cached memory of `sim` devices; tensors that are still there become harmless.
LABRIG_API void attach_sim_backends(std::vector<std::unique_ptr<Backend>> cards);
LABRIG_API void detach_sim_backends();
// True when the process has a sim machine attached: the CPU kernels then report their cost to card 0.
LABRIG_API Backend* attached_sim_clock();

// --- entry points of the backends ---------------------------------------------------------------------------------
LABRIG_API std::unique_ptr<Backend> make_cpu_backend();
// Each returns why there is none: in a build without CUDA (backends/no_cuda), without driver, without card.
Result<int> cuda_device_count();
Result<std::unique_ptr<Backend>> make_cuda_backend(int index);
// An in-process simulated machine with one card of this profile (backends/sim/in_process.cpp), for programs that ask
// for `sim` without having attached a machine.
LABRIG_API std::vector<std::unique_ptr<Backend>> make_default_sim_backends();

}  // namespace labrig
