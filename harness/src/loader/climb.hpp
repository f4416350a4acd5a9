// The whole ladder for people: `labrig plugin doctor`. The rungs from `load` on run in a child process
// (labrig-worker --climb PATH), which reports each one on a private descriptor; a plugin that crashes or exits there
// costs that child and nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "loader/inspection.hpp"

namespace labrig::loader {

// In the child: climbs from `load` on, destroys the object (a rung of its own, `destroy`) and writes a JSON line before
// and after each rung to `descriptor`. The exit code of the process: 0 at the top, 1 at a rung that failed.
int climb_main(const std::filesystem::path& plugin, int descriptor);
inline constexpr int kClimbDescriptor = 3;

struct ClimbResult {
  std::vector<Rung> rungs;  // from `load` on, up to the first that failed
  std::string output;       // what the plugin printed
};

// In the parent. `worker` is the program labrig-worker. Throws Error `worker-not-started`.
ClimbResult climb_in_child(const std::filesystem::path& worker, const std::filesystem::path& plugin);

}  // namespace labrig::loader
