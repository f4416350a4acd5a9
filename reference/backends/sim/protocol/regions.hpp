// The three memory files: made by the supervisor, mapped by the card and by the worker. Sizes are sealed, so that no
// client can pull the memory away under the card. Read next: pages.hpp (what lies in them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "protocol/pages.hpp"

namespace labrig::sim {

// A descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { reset(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// Mapped memory that unmaps itself. Shared memory has guard pages on both sides, so that an overrun of one region never
// reaches another.
class Mapping {
 public:
  Mapping() = default;
  // Of a file, shared. Throws Error `no-shared-memory`.
  Mapping(int fd, std::size_t offset, std::size_t bytes, bool writable);
  // Of nothing: private, not reserved, and without any access unless `usable`. At `place` if that is not 0 and free;
  // elsewhere the mapping is empty.
  static Mapping reserve(std::size_t bytes, bool usable, std::uint64_t place = 0);
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(guard_bytes_, other.guard_bytes_);
    return *this;
  }
  ~Mapping();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t guard_bytes_ = 0;  // before and behind the data
};

struct RegionFiles {
  FileDescriptor device_page, worker_page, arena;
  // New files, sized and sealed. Throws Error `no-shared-memory`.
  static RegionFiles create(std::uint64_t arena_bytes);
};
// From now on nobody can map the device page writable who has not done so yet. Called by the card.
void seal_device_page(int fd);

// One side's view of the files.
struct Regions {
  Regions() = default;
  // `card`: the device page is writable. Maps and leaves the descriptors open.
  Regions(int device_page_fd, int worker_page_fd, int arena_fd, std::uint64_t arena_bytes, bool card);

  DevicePage& device_page() const { return *reinterpret_cast<DevicePage*>(device_page_map.data()); }
  WorkerPage& worker_page() const { return *reinterpret_cast<WorkerPage*>(worker_page_map.data()); }
  std::byte* ring() const { return ring_map.data(); }
  std::byte* staging() const { return staging_map.data(); }
  std::byte* arena() const { return arena_map.data(); }
  std::uint64_t arena_bytes() const { return arena_map.bytes(); }

  Mapping device_page_map, worker_page_map, ring_map, staging_map, arena_map;
};

}  // namespace labrig::sim
