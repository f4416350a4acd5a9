// Is this labrig whole, and does it do its work: compile an answer, load it, run the simulated card?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "build/installation.hpp"
#include "doctor/check.hpp"

namespace labrig::doctor {

struct Places {
  std::filesystem::path programs, root;
  std::vector<std::filesystem::path> labs;  // a folder each
};

Check programs_check(const Places& places);
Check headers_check(const build::Installation& installation);
Check labs_check(const Places& places);
Check profiles_check();
// Both homes of the simulated card: a process, as for grading, and this process, as for one's own programs.
Check simulated_card_check(const Places& places);

Check compiler_check(const build::Installation& installation);
// Compiles the starter of a lab, as a grading does and past the cache, and climbs the loading ladder with it.
Check build_check(const Places& places, const build::Installation& installation);
// Not needed by labrig itself.
Check cmake_check();
Check toolkit_check();

}  // namespace labrig::doctor
