// The text in the section .labrig.manifest: "key=value" lines, as labrig/abi.h describes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "loader/inspection.hpp"

namespace labrig::loader {

// Nothing when a line is not key=value, a key is missing, or the text does not begin as it must. Keys that this version
// does not know are passed over: newer plugins may say more.
std::optional<Manifest> parse_manifest(std::string_view section);
// "1.0" -> {1, 0}.
std::optional<std::pair<int, int>> parse_version(std::string_view text);

}  // namespace labrig::loader
