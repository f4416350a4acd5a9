#include "store/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "store/digest.hpp"

namespace labrig::store {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error("cannot-write", "cannot write " + path.string(), std::strerror(error),
              "check that the folder exists, that you may write there and that the disk has room");
}

// Writes all bytes and syncs; 0 or the error number.
int write_and_sync(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

}  // namespace

bool write_atomically(const fs::path& path, std::string_view content, Existing existing) {
  std::error_code ignored;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
  const fs::path temporary = path.string() + "." + random_token() + ".tmp";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) fail(path, errno);
  int error = write_and_sync(file, content);
  ::close(file);
  bool placed = false;
  if (error == 0) {
    // link() fails when the name is taken, rename() replaces it; both are atomic.
    const int answer = existing == Existing::keep ? ::link(temporary.c_str(), path.c_str())
                                                  : ::rename(temporary.c_str(), path.c_str());
    placed = answer == 0;
    if (!placed && !(existing == Existing::keep && errno == EEXIST)) error = errno;
  }
  ::unlink(temporary.c_str());
  if (error != 0) fail(path, error);
  return placed;
}

}  // namespace labrig::store
