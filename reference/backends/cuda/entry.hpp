// The door between labrig-core and liblabrig-cuda.so. The core opens the library when the first cuda device is asked
// for and finds one symbol, `labrig_cuda_entry`; everything else goes through the table that it returns. The library
// is never closed again. Read next: loader.cpp (the core's side), probe.cpp (the library's side).
#pragma once

#include <memory>

#include "device/backend.hpp"
#include "labrig/error.hpp"

namespace labrig::cuda {

// Both sides come from one build: C++ types may cross. `build` is LABRIG_VERSION and LABRIG_HEADER_HASH and is the one
// member that is read before the sides are known to match.
struct Entry {
  const char* build;
  Result<int> (*device_count)();
  Result<std::unique_ptr<Backend>> (*make_backend)(int index);
};

inline constexpr char kEntrySymbol[] = "labrig_cuda_entry";
using EntryFunction = const Entry* (*)();

}  // namespace labrig::cuda
