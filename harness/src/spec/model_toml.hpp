// A model description as `labrig plan` reads it: docs/plan.md has the format.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "labrig/error.hpp"
#include "labrig/plan.hpp"

namespace labrig::spec {

struct PlannedCard {
  std::string profile;  // a card profile; empty: capacity_bytes is given
  std::size_t capacity_bytes = 0;
  std::size_t context_bytes = 0;          // what the driver keeps for the process
  std::size_t other_processes_bytes = 0;  // besides those of the profile
  double reserve = 0.2;                   // the part of what is left that stays free
};

struct ModelFile {
  plan::Model model;
  plan::Training training;
  std::optional<PlannedCard> card;
};

// `text` is the TOML; `file` names it in errors. Errors: `bad-toml`, `bad-model`.
Result<ModelFile> parse_model(std::string_view text, const std::string& file);
Result<ModelFile> load_model(const std::filesystem::path& file);

}  // namespace labrig::spec
