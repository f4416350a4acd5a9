// What `labrig plan` answers: the plan, what it means for a card, and what other choices would take. plan_answer.cpp
// computes it and makes JSON of it (docs/plan.md), plan_text.cpp the table.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "labrig/plan.hpp"
#include "spec/model_toml.hpp"

namespace labrig::app {

// The card, and how large a batch may be on it.
struct CardAnswer {
  std::string profile;  // empty: only a capacity is known
  std::size_t capacity_bytes = 0, context_bytes = 0, other_processes_bytes = 0;
  std::size_t available_bytes = 0;  // capacity without the two
  double reserve = 0;
  std::size_t after_reserve_bytes = 0;  // what the reserve leaves of available_bytes
  plan::LargestBatch largest, largest_with_reserve;
  bool fits = false, fits_with_reserve = false;
};

// The same training with one thing changed.
struct Alternative {
  std::string change;  // "half the batch, gradients added up over two"
  std::size_t peak_bytes = 0;
};

struct PlanAnswer {
  spec::ModelFile file;
  plan::Plan plan;
  std::optional<CardAnswer> card;
  plan::Part largest_part{};  // at the peak
  std::vector<Alternative> alternatives;
  std::optional<std::size_t> measured_peak_bytes;
};

PlanAnswer answer_plan(const spec::ModelFile& file, bool measure);
// "2 x 1,000 x 4 B: exp_avg and exp_avg_sq"
std::string formula_of(const PlanAnswer& answer, plan::Part part);
nlohmann::ordered_json to_json(const PlanAnswer& answer);
void print_plan(const PlanAnswer& answer);  // plan_text.cpp

}  // namespace labrig::app
