// How labrig-core opens liblabrig-cuda.so (loader.cpp).
#pragma once

#include <filesystem>
#include <vector>

#include "backends/cuda/entry.hpp"

namespace labrig::cuda {

// Opens the library at the first of `places` that exists. The errors, each for one cause: cuda-library-missing,
// cuda-runtime-missing, cublas-missing, cuda-library-broken (another build, not a library, no entry).
Result<const Entry*> open_library(const std::vector<std::filesystem::path>& places);

}  // namespace labrig::cuda
