// The two files that io needs: one that is read with its size known, and one that appears under its name only when it
// is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace labrig::io {

class InputFile {
 public:
  // Throws `bad-file`.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  // The bytes from byte `from` on; returns how many, fewer than asked for only at the end of the file.
  std::size_t read(std::uint64_t from, std::span<std::byte> into) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

// Written as "PATH.partial-PID"; finish() renames it to PATH, and without that it is removed.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Both throw `bad-file`.
  void write(std::span<const std::byte> bytes);
  void finish();

 private:
  std::string path_, partial_;
  int descriptor_ = -1;
};

}  // namespace labrig::io
