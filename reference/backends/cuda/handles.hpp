// Owners of what the CUDA runtime hands out: streams, events, device memory, library handles.
#pragma once

#include <new>
#include <utility>

#include "check.hpp"

namespace labrig::cuda {

// Owns a handle that `destroy` gives back. Destroying never throws.
template <class T, auto destroy>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  explicit UniqueHandle(T handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != nullptr) ignore(destroy(handle_));
  }

  T get() const { return handle_; }
  // The handle, which is then the caller's.
  T release() { return std::exchange(handle_, nullptr); }

 private:
  T handle_ = nullptr;
};

using StreamHandle = UniqueHandle<cudaStream_t, cudaStreamDestroy>;
using EventHandle = UniqueHandle<cudaEvent_t, cudaEventDestroy>;
using BlasHandle = UniqueHandle<cublasHandle_t, cublasDestroy_v2>;
inline cudaError_t free_device_memory(void* memory) { return cudaFree(memory); }
using DeviceMemory = UniqueHandle<void*, free_device_memory>;

// Makes a device current on the calling thread for a scope. Every call of the runtime goes to the current device.
class CurrentDevice {
 public:
  explicit CurrentDevice(int index) {
    check(cudaGetDevice(&previous_), "cudaGetDevice");
    if (previous_ != index) check(cudaSetDevice(index), "cudaSetDevice");
  }
  // For destructors and what they call: does not throw. At the end of a process the runtime goes first, with everything
  // it handed out; then `ok()` is false and there is nothing left to give back.
  CurrentDevice(int index, std::nothrow_t) noexcept
      : ok_(cudaGetDevice(&previous_) == cudaSuccess && cudaSetDevice(index) == cudaSuccess) {}
  ~CurrentDevice() {
    if (ok_) ignore(cudaSetDevice(previous_));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  bool ok() const { return ok_; }

 private:
  int previous_ = 0;
  bool ok_ = true;
};

}  // namespace labrig::cuda
