// Memory, copies, streams and events through the CUDA runtime.
#include "backend.hpp"

#include <cublas_v2.h>

#include <cstdlib>
#include <string_view>

namespace labrig::cuda {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// What NVIDIA advises as cuBLAS's workspace; reductions need far less.
std::size_t scratch_bytes_for(const cudaDeviceProp& properties) { return properties.major >= 9 ? 32 * kMiB : 8 * kMiB; }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// cudaSuccess: true, cudaErrorNotReady: false; not ready is no failure and leaves no trace.
bool is_done(cudaError_t code, const char* call) {
  if (code == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check(code, call);
  return true;
}

bool is_product(Kernel kernel) { return kernel == Kernel::matmul || kernel == Kernel::bmm || kernel == Kernel::linear; }

bool uses_scratch(Kernel kernel) {
  const bool is_step_or_row =
      kernel >= Kernel::index || (kernel >= Kernel::softmax && kernel <= Kernel::log_softmax_backward);
  return !is_elementwise(kernel) && !is_step_or_row;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

Error bad_handle(const std::string& kind, unsigned id) {
  return {"invalid-handle", kind + " " + std::to_string(id) + " does not exist on this card",
          "it was never created, was destroyed, or belongs to another device",
          "use handles on the device on which they were created"};
}

}  // namespace

CudaBackend::CudaBackend(int index) : index_(index) {
  const CurrentDevice current(index_);
  check(cudaGetDeviceProperties(&properties_, index_), "cudaGetDeviceProperties");
  require_code_for_current_device();
  pages_ = Pages(index_);
  scratch_bytes_ = scratch_bytes_for(properties_);
  log_ = std::make_unique<LaunchLog>(index_);
  blocking_ = is_set("CUDA_LAUNCH_BLOCKING") || is_set("LABRIG_LAUNCH_BLOCKING");
  streams_.push_back(new_stream(true));
  cublasHandle_t blas = nullptr;
  check(cublasCreate(&blas), "cublasCreate");
  blas_ = BlasHandle(blas);
  // f32 in full f32, and sums of 16-bit products in f32 also where a product is split over several blocks.
  const auto mode = static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  check(cublasSetMathMode(blas, mode), "cublasSetMathMode");
}

CudaBackend::~CudaBackend() {
  const CurrentDevice current(index_, std::nothrow);
  if (current.ok()) {
    blas_ = {};
    events_.clear();
    streams_.clear();
    return;
  }
  log_->abandon();
  blas_.release();
  for (EventState& event : events_) event.handle.release();
  for (StreamState& stream : streams_) {
    stream.handle.release();
    stream.scratch.release();
  }
}

std::string CudaBackend::describe() const {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return std::string(properties_.name) + ", " + std::to_string(properties_.totalGlobalMem / kMiB) +
         " MiB, compute capability " + std::to_string(properties_.major) + "." + std::to_string(properties_.minor) +
         ", " + std::to_string(properties_.multiProcessorCount) + " multiprocessors, driver for CUDA " +
         version_text(driver) + ", runtime " + version_text(runtime);
}

std::string CudaBackend::lacks_bf16() const {
  if (properties_.major >= 8) return {};
  return std::string(properties_.name) + " has compute capability " + std::to_string(properties_.major) + "." +
         std::to_string(properties_.minor);
}

MemoryInfo CudaBackend::memory_info() {
  const OnCard on_card(*this);
  MemoryInfo info;
  check(cudaMemGetInfo(&info.free_bytes, &info.total_bytes), "cudaMemGetInfo");
  return info;
}

// --- memory ----------------------------------------------------------------------------------------------------------

void* CudaBackend::driver_malloc(std::size_t bytes) {
  const OnCard on_card(*this);
  void* memory = nullptr;
  const cudaError_t code = cudaMalloc(&memory, bytes);
  if (code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // else the next launch would report it
    return nullptr;
  }
  check(code, "cudaMalloc");
  return memory;
}

void CudaBackend::driver_free(void* memory) {
  const CurrentDevice current(index_, std::nothrow);
  if (!current.ok()) return;
  ignore(cudaDeviceSynchronize());
  ignore(cudaFree(memory));
}

// The runtime binds its context to a thread at that thread's first call; the driver's own functions need it bound.
void* CudaBackend::reserve_range(std::size_t bytes) {
  const OnCard on_card(*this);
  check(cudaSetDevice(index_), "cudaSetDevice");
  return pages_.reserve(bytes);
}

bool CudaBackend::map_pages(void* address, std::size_t bytes) {
  const OnCard on_card(*this);
  check(cudaSetDevice(index_), "cudaSetDevice");
  return pages_.map(address, bytes);
}

void CudaBackend::unmap_pages(void* address, std::size_t bytes) {
  const CurrentDevice current(index_, std::nothrow);
  if (current.ok()) pages_.unmap(address, bytes);
}

void CudaBackend::release_range(void* address, std::size_t bytes) {
  const CurrentDevice current(index_, std::nothrow);
  if (current.ok()) pages_.release(address, bytes);
}

void* CudaBackend::pinned_malloc(std::size_t bytes) {
  const OnCard on_card(*this);
  void* memory = nullptr;
  const cudaError_t code = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  check(code, "cudaHostAlloc");
  return memory;
}

void CudaBackend::pinned_free(void* memory) {
  const CurrentDevice current(index_, std::nothrow);
  if (current.ok()) ignore(cudaFreeHost(memory));
}

// --- work ------------------------------------------------------------------------------------------------------------

void CudaBackend::copy(const CopyRequest& request) {
  if (request.bytes == 0) return;
  const OnCard on_card(*this);
  const cudaStream_t stream = stream_of(request.stream).handle.get();
  if (request.direction == CopyDirection::peer) {
    // Work like a kernel; the runtime goes by way of the host where the cards cannot reach each other.
    check(cudaMemcpyPeerAsync(request.destination, request.peer.index(), request.source, index_, request.bytes, stream),
          "cudaMemcpyPeerAsync");
    return;
  }
  constexpr cudaMemcpyKind kKinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice};
  check(cudaMemcpyAsync(request.destination, request.source, request.bytes, kKinds[static_cast<int>(request.direction)],
                        stream),
        "cudaMemcpyAsync");
  // Within the card no host memory takes part: such a copy is work like a kernel. A pageable source has been read by
  // now; a pageable destination has been written so far on every card, which the documentation does not promise.
  if (request.direction == CopyDirection::within) return;
  const bool lands_in_pageable = request.direction == CopyDirection::down && !request.pinned;
  if (!request.non_blocking || lands_in_pageable) wait_for(request.stream);
}

void CudaBackend::launch(const KernelCall& call, StreamId stream) {
  const OnCard on_card(*this);
  const StreamState& state = stream_of(stream);
  LaunchContext context;
  context.stream = state.handle.get();
  context.multiprocessors = properties_.multiProcessorCount;
  context.scratch = state.scratch.get();
  context.scratch_bytes = scratch_bytes_;
  context.fault = log_->begin(call.kernel, stream);
  launch_with(call, context);
  if (blocking_) wait_for(stream);
}

void CudaBackend::launch_with(const KernelCall& call, LaunchContext& context) {
  if (!uses_scratch(call.kernel)) return cuda::launch(call, context);
  const std::lock_guard hold(scratch_lock_);
  if (is_product(call.kernel)) {
    context.blas = blas_.get();
    context.linear_plans = &linear_plans_;
    // In this order: setting the stream takes the workspace away.
    check(cublasSetStream(context.blas, context.stream), "cublasSetStream");
    check(cublasSetWorkspace(context.blas, context.scratch, context.scratch_bytes), "cublasSetWorkspace");
  }
  cuda::launch(call, context);
}

// The host waits for the stream, and knows then that its launches went well.
void CudaBackend::wait_for(StreamId stream) {
  const std::uint64_t newest = log_->newest(stream);
  check(cudaStreamSynchronize(stream_of(stream).handle.get()), "cudaStreamSynchronize");
  log_->completed(stream, newest);
}

// --- streams ---------------------------------------------------------------------------------------------------------

CudaBackend::StreamState CudaBackend::new_stream(bool is_default) const {
  StreamState state;
  if (!is_default) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    state.handle = StreamHandle(stream);
  }
  void* scratch = nullptr;
  check(cudaMalloc(&scratch, scratch_bytes_), "cudaMalloc");
  state.scratch = DeviceMemory(scratch);
  return state;
}

const CudaBackend::StreamState& CudaBackend::stream_of(StreamId stream) {
  const std::lock_guard hold(lock_);
  if (stream >= streams_.size()) throw bad_handle("stream", stream);
  return streams_[stream];
}

StreamId CudaBackend::create_stream() {
  const OnCard on_card(*this);
  const std::lock_guard hold(lock_);
  const std::size_t id = 1 + streams_created_ % (kStreams - 1);
  if (id == streams_.size()) streams_.push_back(new_stream(false));
  ++streams_created_;
  return static_cast<StreamId>(id);
}

void CudaBackend::synchronize_stream(StreamId stream, trace::Cause) {
  const OnCard on_card(*this);
  wait_for(stream);
}

void CudaBackend::synchronize_device(trace::Cause) {
  const OnCard on_card(*this);
  const auto newest = log_->newest();
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  log_->completed(newest);
}

bool CudaBackend::query_stream(StreamId stream) {
  const OnCard on_card(*this);
  const std::uint64_t newest = log_->newest(stream);
  const bool done = is_done(cudaStreamQuery(stream_of(stream).handle.get()), "cudaStreamQuery");
  if (done) log_->completed(stream, newest);
  return done;
}

// --- events ----------------------------------------------------------------------------------------------------------

cudaEvent_t CudaBackend::event_of(EventId event) {
  const std::lock_guard hold(lock_);
  if (event >= events_.size() || events_[event].handle.get() == nullptr) throw bad_handle("event", event);
  return events_[event].handle.get();
}

void CudaBackend::event_passed(EventId event) {
  const std::lock_guard hold(lock_);
  if (event < events_.size()) log_->completed(events_[event].stream, events_[event].launch);
}

EventId CudaBackend::create_event(bool timing) {
  const OnCard on_card(*this);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
  EventHandle handle(event);
  const std::lock_guard hold(lock_);
  if (free_events_.empty()) {
    free_events_.reserve(events_.size() + 1);  // destroy_event must find room
    events_.push_back({std::move(handle)});
    return static_cast<EventId>(events_.size() - 1);
  }
  const EventId id = free_events_.back();
  free_events_.pop_back();
  events_[id] = {std::move(handle)};
  return id;
}

void CudaBackend::destroy_event(EventId event) {
  const std::lock_guard hold(lock_);
  if (event >= events_.size() || events_[event].handle.get() == nullptr) return;
  events_[event] = {};
  free_events_.push_back(event);
}

void CudaBackend::record_event(EventId event, StreamId stream) {
  const OnCard on_card(*this);
  check(cudaEventRecord(event_of(event), stream_of(stream).handle.get()), "cudaEventRecord");
  const std::lock_guard hold(lock_);
  events_[event].stream = stream;
  events_[event].launch = log_->newest(stream);
}

void CudaBackend::wait_event(EventId event, StreamId stream, Backend& owner) {
  const OnCard on_card(*this);
  check(cudaStreamWaitEvent(stream_of(stream).handle.get(), static_cast<CudaBackend&>(owner).event_of(event), 0),
        "cudaStreamWaitEvent");
}

void CudaBackend::synchronize_event(EventId event) {
  const OnCard on_card(*this);
  check(cudaEventSynchronize(event_of(event)), "cudaEventSynchronize");
  event_passed(event);
}

bool CudaBackend::query_event(EventId event) {
  const OnCard on_card(*this);
  const bool done = is_done(cudaEventQuery(event_of(event)), "cudaEventQuery");
  if (done) event_passed(event);
  return done;
}

double CudaBackend::elapsed_ms(EventId from, EventId to) {
  const OnCard on_card(*this);
  float milliseconds = 0;
  const cudaError_t code = cudaEventElapsedTime(&milliseconds, event_of(from), event_of(to));
  // CUDA answers "invalid handle" for an event that was never recorded.
  if (code == cudaErrorNotReady || code == cudaErrorInvalidResourceHandle) {
    static_cast<void>(cudaGetLastError());
    throw Error("event-not-ready", "Both events must be completed before calculating elapsed time.",
                "an event has a time only once the card has reached it",
                "record both events, and synchronise the later one first");
  }
  check(code, "cudaEventElapsedTime");
  return milliseconds;
}

}  // namespace labrig::cuda
