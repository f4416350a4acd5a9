// Pages: each piece of memory belongs to its mapping alone, so unmapping it gives it back.
#include "pages.hpp"

#include <string>

#include "check.hpp"

namespace labrig::cuda {
namespace {

constexpr std::size_t kPageBytes = std::size_t{2} << 20;

// A function of the driver; false when it has none of this name.
template <class Function>
bool look_up(Function& function, const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  constexpr unsigned kSince = 12000;  // the oldest toolkit that labrig is built with
  const cudaError_t code = cudaGetDriverEntryPointByVersion(name, &found, kSince, cudaEnableDefault, &result);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (code != cudaSuccess || result != cudaDriverEntryPointSuccess || found == nullptr) return false;
  function = reinterpret_cast<Function>(found);
  return true;
}

Error driver_error(CUresult code, const std::string& call) {
  return {"cuda-error", "CUDA driver error " + std::to_string(static_cast<int>(code)) + " when calling `" + call + "`",
          "the driver could not put memory behind an expandable segment; an earlier call may be the cause",
          "leave expandable_segments out of the allocator's settings"};
}

}  // namespace

Pages::Pages(int index) {
  const bool found = look_up(driver_.reserve, "cuMemAddressReserve") && look_up(driver_.release, "cuMemAddressFree") &&
                     look_up(driver_.create, "cuMemCreate") && look_up(driver_.destroy, "cuMemRelease") &&
                     look_up(driver_.map, "cuMemMap") && look_up(driver_.unmap, "cuMemUnmap") &&
                     look_up(driver_.set_access, "cuMemSetAccess") &&
                     look_up(driver_.granularity, "cuMemGetAllocationGranularity") &&
                     look_up(driver_.attribute, "cuDeviceGetAttribute");
  if (!found) return;
  kind_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  kind_.location.id = index;
  int has_it = 0;
  std::size_t page_bytes = 0;
  supported_ =
      driver_.attribute(&has_it, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, index) == CUDA_SUCCESS &&
      has_it != 0 && driver_.granularity(&page_bytes, &kind_, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS &&
      page_bytes != 0 && kPageBytes % page_bytes == 0;
}

void* Pages::reserve(std::size_t bytes) const {
  CUdeviceptr address = 0;
  const CUresult code = driver_.reserve(&address, bytes, kPageBytes, 0, 0);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  if (code != CUDA_SUCCESS) throw driver_error(code, "cuMemAddressReserve");
  return reinterpret_cast<void*>(address);
}

CUresult Pages::map_page(CUdeviceptr address) const {
  CUmemGenericAllocationHandle memory{};
  if (const CUresult code = driver_.create(&memory, kPageBytes, &kind_, 0); code != CUDA_SUCCESS) return code;
  const CUresult code = driver_.map(address, kPageBytes, 0, memory, 0);
  driver_.destroy(memory);  // from here on the mapping alone holds it
  return code;
}

bool Pages::map(void* address, std::size_t bytes) const {
  const auto start = reinterpret_cast<CUdeviceptr>(address);
  CUresult code = CUDA_SUCCESS;
  std::size_t mapped = 0;
  for (; mapped < bytes; mapped += kPageBytes) {
    code = map_page(start + mapped);
    if (code != CUDA_SUCCESS) break;
  }
  if (code == CUDA_SUCCESS) {
    CUmemAccessDesc access{};
    access.location = kind_.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    code = driver_.set_access(start, bytes, &access, 1);
  }
  if (code == CUDA_SUCCESS) return true;
  if (mapped > 0) driver_.unmap(start, mapped);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) return false;
  throw driver_error(code, "cuMemMap");
}

void Pages::unmap(void* address, std::size_t bytes) const noexcept {
  driver_.unmap(reinterpret_cast<CUdeviceptr>(address), bytes);
}

void Pages::release(void* address, std::size_t bytes) const noexcept {
  driver_.release(reinterpret_cast<CUdeviceptr>(address), bytes);
}

}  // namespace labrig::cuda
