// Memory files, seals and mappings.
#include "protocol/regions.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "labrig/error.hpp"

namespace labrig::sim {
namespace {

constexpr std::size_t kGuardBytes = 64 * 1024;

[[noreturn]] void fail(const std::string& what) {
  throw Error("no-shared-memory", "cannot set up the memory of the simulated card", what + ": " + std::strerror(errno),
              "free some memory, or raise the limits on memory and open files of this process");
}

FileDescriptor memory_file(const char* name, std::uint64_t bytes, int seals) {
  FileDescriptor file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) fail("memfd_create");
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate");
  if (fcntl(file.get(), F_ADD_SEALS, seals) != 0) fail("sealing");
  return file;
}

}  // namespace

void FileDescriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Mapping::Mapping(int fd, std::size_t offset, std::size_t bytes, bool writable) {
  if (bytes == 0) return;
  void* whole = mmap(nullptr, bytes + 2 * kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) fail("mmap");
  data_ = static_cast<std::byte*>(whole) + kGuardBytes;
  bytes_ = bytes;
  guard_bytes_ = kGuardBytes;
  const int access = PROT_READ | (writable ? PROT_WRITE : 0);
  if (mmap(data_, bytes, access, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset)) == MAP_FAILED) {
    const int error = errno;
    munmap(whole, bytes + 2 * kGuardBytes);
    errno = error;
    fail("mmap");
  }
}

Mapping Mapping::reserve(std::size_t bytes, bool usable, std::uint64_t place) {
  Mapping mapping;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place != 0 ? MAP_FIXED_NOREPLACE : 0);
  void* memory = mmap(reinterpret_cast<void*>(place), bytes, usable ? PROT_READ | PROT_WRITE : PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED) return mapping;
  mapping.data_ = static_cast<std::byte*>(memory);
  mapping.bytes_ = bytes;
  // A kernel that does not know MAP_FIXED_NOREPLACE takes the place for a hint.
  if (place != 0 && memory != reinterpret_cast<void*>(place)) return {};
  return mapping;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_ - guard_bytes_, bytes_ + 2 * guard_bytes_);
}

RegionFiles RegionFiles::create(std::uint64_t arena_bytes) {
  constexpr int kSized = F_SEAL_SHRINK | F_SEAL_GROW;
  RegionFiles files;
  files.device_page = memory_file("labrig-device-page", kPageBytes, kSized);  // the card adds the last seals
  files.worker_page = memory_file("labrig-worker-page", kPageBytes + kRingBytes, kSized | F_SEAL_SEAL);
  files.arena = memory_file("labrig-arena", kStagingBytes + arena_bytes, kSized | F_SEAL_SEAL);
  return files;
}

void seal_device_page(int fd) {
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) fail("sealing the device page");
}

Regions::Regions(int device_page_fd, int worker_page_fd, int arena_fd, std::uint64_t arena_bytes, bool card)
    : device_page_map(device_page_fd, 0, kPageBytes, card),
      worker_page_map(worker_page_fd, 0, kPageBytes, true),
      ring_map(worker_page_fd, kPageBytes, kRingBytes, true),
      staging_map(arena_fd, 0, kStagingBytes, true),
      arena_map(arena_fd, kStagingBytes, arena_bytes, true) {}

}  // namespace labrig::sim
