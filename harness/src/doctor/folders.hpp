// Where labrig writes: may it, is there room, may what it writes there be run, and is the time right?
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>

#include "doctor/check.hpp"

namespace labrig::doctor {

struct FolderFacts {
  std::filesystem::path folder;
  std::string problem;  // why nothing can be written there; empty: it can
  std::uint64_t free_bytes = 0;
  std::uint64_t free_files = 1;    // how many more there may be; file systems that do not count them say many
  bool no_programs = false;        // mounted `noexec`
  std::int64_t clock_ahead_s = 0;  // of the file system, against this machine
};
// Writes a file there and takes it away again; makes the folder.
FolderFacts folder_facts(const std::filesystem::path& folder);

// The check `id` ("cache", "temp"). `variable`: what sets the folder. `runs_programs`: what is built lies there.
Check folder_check(const std::string& id, const FolderFacts& facts, const std::string& variable, bool runs_programs);

struct ClockFacts {
  std::time_t now = 0;
  std::time_t built = 0;            // when this labrig was made
  std::int64_t folder_ahead_s = 0;  // of the file system with the cache
};
Check clock_check(const ClockFacts& facts);

}  // namespace labrig::doctor
