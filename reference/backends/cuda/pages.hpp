// Memory page by page, for expandable segments: a range of addresses, and memory of the card that is put behind parts
// of it. Only the driver's own API has this; its functions are looked up through the runtime, so that nothing more has
// to be linked. The card must be current in all calls.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace labrig::cuda {

class Pages {
 public:
  Pages() = default;
  explicit Pages(int index);

  // Whether driver and card can do it.
  bool supported() const { return supported_; }
  // Null when no addresses are left.
  void* reserve(std::size_t bytes) const;
  // Puts memory behind all of it, or (false) none. In pieces of 2 MiB, so that any of them can go back.
  bool map(void* address, std::size_t bytes) const;
  // These give back, and never throw. They do not wait for the card.
  void unmap(void* address, std::size_t bytes) const noexcept;
  void release(void* address, std::size_t bytes) const noexcept;

 private:
  CUresult map_page(CUdeviceptr address) const;

  struct Driver {
    decltype(&::cuMemAddressReserve) reserve = nullptr;
    decltype(&::cuMemAddressFree) release = nullptr;
    decltype(&::cuMemCreate) create = nullptr;
    decltype(&::cuMemRelease) destroy = nullptr;
    decltype(&::cuMemMap) map = nullptr;
    decltype(&::cuMemUnmap) unmap = nullptr;
    decltype(&::cuMemSetAccess) set_access = nullptr;
    decltype(&::cuMemGetAllocationGranularity) granularity = nullptr;
    decltype(&::cuDeviceGetAttribute) attribute = nullptr;
  } driver_;
  CUmemAllocationProp kind_{};  // memory of this card
  bool supported_ = false;
};

}  // namespace labrig::cuda
