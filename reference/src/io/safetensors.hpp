// The safetensors format: what the header says of a file, read with distrust and written as the Python package does.
// Knows no tensors and opens no files, so that the fuzzer reaches all of it. Read next: io.cpp (files).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/dtype.hpp"
#include "labrig/error.hpp"
#include "labrig/io.hpp"
#include "labrig/layout.hpp"

namespace labrig::io {

inline constexpr std::uint64_t kLengthBytes = 8;               // of the number in front of the header
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the Python package reads no longer ones

struct Entry {
  std::string name;
  Dtype dtype = Dtype::f32;
  Dims sizes;
  std::uint64_t begin = 0, end = 0;  // bytes of the data, counted from its start
  std::uint64_t position = 0;        // byte of the file at which the entry ends
};

struct Header {
  std::vector<Entry> entries;  // in the order of their bytes, which follow one another without gaps
  Metadata metadata;
};

// Where a file of which messages are about comes from.
struct FileFacts {
  std::string path;
  std::uint64_t bytes = 0;
};

// The length of the header, from the first bytes of a file (64 or more of them help to tell what else it is).
Result<std::uint64_t> header_length(std::string_view start, const FileFacts& file);
// The header itself, checked: types, sizes, offsets, and that the data ends where the file does.
Result<Header> parse_header(std::string_view text, const FileFacts& file);
// In the order in which the data must follow: types with larger alignment first, then by name.
void sort_for_writing(std::vector<Entry>& entries);
// Length and header text for entries that have been placed, padded to 8 bytes. Throws `bad-checkpoint` for texts that
// are not UTF-8.
std::string header_text(const std::vector<Entry>& entries, const Metadata& metadata);

// "Error while deserializing header: KIND", KIND as the Python package calls it.
Error bad_checkpoint(const FileFacts& file, std::string_view kind, std::uint64_t position, const std::string& problem,
                     const std::string& fix);

}  // namespace labrig::io
