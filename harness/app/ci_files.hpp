// The files that make a CI system run `labrig ci`: a workflow for GitHub Actions or GitLab CI, and labrig.toml.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"

namespace labrig::app {

// A file that kits are made of, such as "ci/github.yml", with every @NAME@ replaced. Throws Error `no-installation`.
std::string kit_file(const Context& context, const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& replaced = {});

// Where a CI system ("github", "gitlab") looks for its workflow.
std::filesystem::path workflow_path(std::string_view system);
// A labrig.toml with an entry for each of these, a path and a lab.
std::string ci_file_for(const std::vector<std::pair<std::string, std::string>>& submissions);

// `labrig ci --init SYSTEM`, in this folder. Never overwrites a file.
void write_ci_files(Context& context, const std::string& system);

}  // namespace labrig::app
