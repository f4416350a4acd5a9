// What happens when the program touches memory that it does not have: a device pointer dereferenced on the host is
// named, with the tensor it points into, and then the process ends as it would have. The table is fixed memory that the
// handler of SIGSEGV and SIGBUS can read at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/address_map.hpp"
#include "protocol/pages.hpp"

namespace labrig::sim {

class CrashTable {
 public:
  // Installs the handler; the newest table of a process is the one it uses. `map` and `page` must outlive the table.
  CrashTable(const AddressMap& map, const std::byte* range, WorkerPage& page);
  ~CrashTable();
  CrashTable(const CrashTable&) = delete;
  CrashTable& operator=(const CrashTable&) = delete;

  // The last 16,384 of these calls are known. From one thread at a time.
  void announce(std::uint64_t start, std::uint64_t bytes, std::string_view name);
  void free(std::uint64_t start);
  void rename(std::uint64_t start, std::string_view name);

  struct Content;

 private:
  std::unique_ptr<Content> content_;
};

}  // namespace labrig::sim
