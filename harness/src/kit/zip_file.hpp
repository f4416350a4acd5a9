// Writes a folder as a zip. The same content gives the same bytes: names are sorted, times are fixed.
#pragma once

#include <filesystem>

namespace labrig::kit {

// Every plain file below `folder`, with its permissions; `zip` is replaced. Throws Error `cannot-write`,
// `unreadable-file`.
void write_zip(const std::filesystem::path& folder, const std::filesystem::path& zip);

}  // namespace labrig::kit
