// What CUDA's driver library says of itself and of the cards that this process may use. Asked directly, so that a
// labrig without CUDA can say what one with CUDA would find.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace labrig::doctor {

struct DriverCard {
  std::string name, uuid;  // "GPU-…", as NVML writes it; empty when not known
  std::uint64_t total_bytes = 0;
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
};

struct Driver {
  std::string problem;            // why libcuda.so.1 does not open; empty: it does
  std::string file;               // where it lies
  int code = 0;                   // of cuInit: 0 is success; the numbers are those of cudaError_t
  int version = 0;                // the CUDA version it supports, 13000 for 13.0; 0: not known
  std::vector<DriverCard> cards;  // in CUDA's order
};

Driver ask_driver();

// Of the CUDA runtime that is loaded in this process; 0 when none is.
int loaded_runtime_version();

}  // namespace labrig::doctor
