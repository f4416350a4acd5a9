// SHA-256, and HMAC-SHA256 as the source of every seed. The one place that uses OpenSSL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "labrig/error.hpp"

namespace labrig::store {

// Lower-case hexadecimal of the SHA-256 of some bytes.
std::string sha256_hex(std::string_view bytes);

// The HMAC of several texts under a secret. Each text goes in with its length, so that ("ab", "c") and ("a", "bc")
// differ. Returns the 32 bytes.
std::string hmac_sha256(std::string_view secret, std::initializer_list<std::string_view> texts);
// The first 8 bytes of that HMAC, as a little-endian number.
std::uint64_t hmac_number(std::string_view secret, std::initializer_list<std::string_view> texts);

std::string hex(std::string_view bytes);
// 16 bytes from the system's random source, as hexadecimal.
std::string random_token();

// The whole content of a file. Error `unreadable-file`.
Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace labrig::store
