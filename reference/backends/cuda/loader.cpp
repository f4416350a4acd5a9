// Part of labrig-core in a build with CUDA: opens liblabrig-cuda.so, which lies beside the core, and says in plain
// words why there is no cuda device when it cannot. labrig-core itself does not need the CUDA libraries, so one build
// runs with and without toolkit, driver and card. Read next: entry.hpp, then probe.cpp for what a missing driver or
// card gives.
#include "backends/cuda/loader.hpp"

#include <dlfcn.h>

#include <string>
#include <system_error>

#include "labrig/header_hash.h"

namespace labrig {
namespace {

constexpr char kLibrary[] = "liblabrig-cuda.so";
constexpr char kNoDevice[] = "cannot use a cuda device";

// The places where the library may be: beside the core, or (core linked into a program) in ../lib.
std::vector<std::filesystem::path> candidates() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&candidates), &self) == 0 || self.dli_fname == nullptr) return {};
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(self.dli_fname, ignored).parent_path();
  return {folder / kLibrary, folder.parent_path() / "lib" / kLibrary};
}

Error library_missing(const std::vector<std::filesystem::path>& places) {
  std::string looked;
  for (const auto& place : places) looked += (looked.empty() ? "" : " and ") + place.string();
  return {"cuda-library-missing", kNoDevice, std::string(kLibrary) + " is not there (looked at " + looked + ")",
          "put it back beside liblabrig-core.so, or build again with LABRIG_CUDA=ON"};
}

// What the dynamic linker's sentence means for a person.
Error not_loaded(const std::string& text) {
  if (text.find("libcudart") != std::string::npos)
    return {"cuda-runtime-missing", kNoDevice, "the CUDA runtime is not installed: " + text,
            "install the CUDA runtime library of the version named there, or add its folder to LD_LIBRARY_PATH"};
  if (text.find("libcublas") != std::string::npos)
    return {"cublas-missing", kNoDevice, "cuBLAS, which computes matrix products, is not installed: " + text,
            "install the cuBLAS library of the version named there, or add its folder to LD_LIBRARY_PATH"};
  return {"cuda-library-broken", kNoDevice, std::string(kLibrary) + " does not load: " + text,
          "build labrig again, so that both libraries come from one build"};
}

// Opened once a process; the outcome stays, also when it is a failure.
const Result<const cuda::Entry*>& library() {
  static const Result<const cuda::Entry*> opened = cuda::open_library(candidates());
  return opened;
}

}  // namespace

Result<const cuda::Entry*> cuda::open_library(const std::vector<std::filesystem::path>& places) {
  const std::filesystem::path* found = nullptr;
  std::error_code ignored;
  for (const auto& place : places)
    if (found == nullptr && std::filesystem::exists(place, ignored)) found = &place;
  if (found == nullptr) return library_missing(places);

  void* library = dlopen(found->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return not_loaded(dlerror());
  const auto entry = reinterpret_cast<EntryFunction>(dlsym(library, kEntrySymbol));
  if (entry == nullptr) return not_loaded("it has no symbol " + std::string(kEntrySymbol));
  const std::string ours = LABRIG_VERSION " " LABRIG_HEADER_HASH;
  if (ours != entry()->build)
    return not_loaded("it belongs to build " + std::string(entry()->build) + ", but the core is build " + ours);
  return entry();
}

Result<int> cuda_device_count() {
  if (!library()) return library().error();
  return library().value()->device_count();
}

Result<std::unique_ptr<Backend>> make_cuda_backend(int index) {
  if (!library()) return library().error();
  return library().value()->make_backend(index);
}

}  // namespace labrig
