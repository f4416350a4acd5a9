// Files by the calls of POSIX: the C++ streams can neither tell why something failed nor make sure that data has
// reached the disk before a file takes its name.
#include "io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "labrig/error.hpp"

namespace labrig::io {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{16} << 20;  // of one call

Error bad_file(const char* verb, const std::string& path, const std::string& reason, const char* fix) {
  return Error("bad-file", std::string("cannot ") + verb + " '" + path + "'", reason, fix);
}

Error cannot_read(const std::string& path, const std::string& reason) {
  return bad_file("read", path, reason, "check the path and its permissions");
}

Error cannot_write(const std::string& path) {
  return bad_file("write", path, std::strerror(errno), "check the folder, its permissions, and the space that is left");
}

// The file behind a path: a link stays one, and what it leads to is replaced.
std::string behind_links(const std::string& path) {
  if (path.find('\0') != path.npos) throw bad_file("write", path, "its name holds a NUL", "correct the name");
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) return path;  // not there yet
  if (!S_ISREG(facts.st_mode))
    throw bad_file("write", path, "there is something that is no plain file", "choose another name");
  char* const real = realpath(path.c_str(), nullptr);
  if (real == nullptr) throw cannot_write(path);
  std::string result = real;
  std::free(real);
  return result;
}

// Beside the file, of this call alone.
std::string partial_name(const std::string& path) {
  static std::atomic<unsigned> calls{0};
  return path + ".partial-" + std::to_string(getpid()) + "-" + std::to_string(calls.fetch_add(1));
}

}  // namespace

// Opening a pipe must not wait for somebody who writes.
InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) throw cannot_read(path, std::strerror(errno));
  struct stat facts{};
  const bool plain = fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!plain) {
    close(descriptor_);
    throw cannot_read(path, "it is not a plain file");
  }
  bytes_ = static_cast<std::uint64_t>(facts.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

std::size_t InputFile::read(std::uint64_t from, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = pread(descriptor_, into.data() + done, std::min(into.size() - done, kChunkBytes),
                                static_cast<off_t>(from + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw cannot_read(path_, std::strerror(errno));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

OutputFile::OutputFile(const std::string& path)
    : path_(behind_links(path)),
      partial_(partial_name(path_)),
      descriptor_(open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw cannot_write(path);
  // Who may read the file stays as it was.
  struct stat before{};
  if (stat(path_.c_str(), &before) == 0) static_cast<void>(fchmod(descriptor_, before.st_mode & 07777));
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(partial_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kChunkBytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw cannot_write(path_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::finish() {
  if (fsync(descriptor_) != 0 || std::rename(partial_.c_str(), path_.c_str()) != 0) throw cannot_write(path_);
  close(descriptor_);
  descriptor_ = -1;
}

}  // namespace labrig::io
