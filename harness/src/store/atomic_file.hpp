// Files that are whole or not there: written under a temporary name, synced, then put in their place.
#pragma once

#include <filesystem>
#include <string_view>

#include "labrig/error.hpp"

namespace labrig::store {

enum class Existing { keep, replace };

// Writes `path`. With Existing::keep a file that is there stays, and the answer is false. Creates the folder. Throws
// Error `cannot-write`.
bool write_atomically(const std::filesystem::path& path, std::string_view content, Existing existing);

}  // namespace labrig::store
