// Where this program and this library lie: files that belong to them are found from there.
#pragma once

#include <filesystem>

namespace labrig::sim {

// Empty when the system does not say.
std::filesystem::path program_dir();
// Of the file that this code was linked into: the program itself, or the shared library.
std::filesystem::path library_dir();

}  // namespace labrig::sim
