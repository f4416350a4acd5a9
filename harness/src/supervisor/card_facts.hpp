// What a simulated card is told before a case and what is kept of its report afterwards.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "backends/sim/machine.hpp"
#include "grade/outcome.hpp"
#include "spec/lab_spec.hpp"
#include "spec/plan.hpp"

namespace labrig::supervisor {

// The case's cards, all of its profile. Throws Error `unknown-profile` or what the profile's file has wrong.
sim::MachineOptions machine_options(const spec::Case& plan, const spec::Limits& limits, sim::Mode mode);

// The metrics of docs/architecture.md §6 by name. A case of several cards has one more, `other_cards_peak_bytes`: what
// tensors held on cards other than the one that was asked for, each card at its own peak.
grade::Rows metric_rows(const spec::Case& plan, const sim::Report& report);
// The groups of unordered accesses, by the names of docs/architecture.md §10.
std::vector<grade::Hazard> hazards_of(const sim::Report& report);
// T of docs/architecture.md §10: timeline, memory curve, and what was alive at its peak. Kept small (thin_trace.hpp),
// as every case of a report has two.
nlohmann::ordered_json trace_json(const sim::Report& report);

// What the card of the case can do.
nlohmann::ordered_json card_rates_json(const spec::Case& plan);

// Everything in a profile that can change a metric, as one text; for the key of reference figures.
std::string profile_facts(const std::string& name);

}  // namespace labrig::supervisor
