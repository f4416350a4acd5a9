// Where the parts of this labrig lie: the build folder and an installed prefix have the same shape, and everything is
// found relative to the running program (<root>/bin/labrig), so that a copied tree works.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace labrig::build {

// What was recorded when this labrig was configured (<root>/share/labrig/build.json): a student's folder is compiled
// the same way as labrig's own plugins.
struct BuildFacts {
  std::string version;
  std::string compiler;          // full path
  std::string compiler_version;  // "GNU 12.2.0"
  std::string header_hash;
  std::string sanitize;  // as -fsanitize= takes it; empty for none
  std::vector<std::string> compile_options, link_options;
};

struct Installation {
  std::filesystem::path root, lib, include;
  BuildFacts facts;
};

// `root` is the folder above the program's. Throws Error `no-installation` when build.json is missing or damaged.
Installation installation_at(const std::filesystem::path& root);

}  // namespace labrig::build
