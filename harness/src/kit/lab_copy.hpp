// A built lab, copied into a kit: the whole lab for a grader, or what students may see of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spec/lab_spec.hpp"
#include "spec/plan.hpp"

namespace labrig::kit {

enum class Audience { grader, students };

// Copies the lab's folder to `folder`, with `figures` as its reference.json; for students its lab.toml is the visible
// part. Solutions and variants do not lie in a lab's folder. Throws Error `cannot-write`, `nothing-visible`.
void copy_lab(const spec::LabSpec& lab, const std::filesystem::path& folder, Audience audience,
              const std::string& figures);

// The lab's reference.json reduced to these cases; nothing when it lacks one of them.
std::optional<std::string> shipped_figures_of(const spec::LabSpec& lab, const std::vector<spec::Case>& cases);

}  // namespace labrig::kit
