// What became of one case: its status, where and why it ended, what was counted. Made by the supervisor, carried to the
// grader as JSON, and the only thing that points are computed from.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/plan.hpp"

namespace labrig::grade {

enum class Status : std::uint8_t {
  ok,
  wrong_values,
  hazard,
  crashed,
  timed_out,
  out_of_memory,
  stopped_early,
  over_limit,
  fault,
  not_run,
};
enum class Phase : std::uint8_t { load, init, call, teardown };

const char* name_of(Status status);
const char* name_of(Phase phase);
// Throw Error `bad-outcome` for a name that is none.
Status status_from(std::string_view name);
Phase phase_from(std::string_view name);
// True when the call came back: ok, wrong_values, hazard.
bool returned(Status status);

struct Reason {
  std::string code, text;
  std::string why = {}, fix = {};  // where the submission threw a labrig::Error, which has them
};
// "text (why; fix)", or the text alone.
std::string in_full(const Reason& reason);

struct Finding {
  double share = 1;
  std::string code, text;
};

// Accesses to the same bytes that nothing orders: all pairs of one kind between the same two operations.
struct Hazard {
  struct Side {
    std::string what;                    // "kernel 'matmul(chunk, weights)'", "the host"
    std::optional<std::int64_t> stream;  // none: the host
  };
  std::string kind;  // unordered-read, unordered-write, host-read-in-flight, host-write-in-flight, freed-in-flight
  std::string text;  // three lines: what, why, fix
  std::int64_t count = 0;
  Side earlier, later;
  std::string buffer;                   // the tensor that both touch
  std::int64_t bytes = 0;               // of the first pair
  std::optional<std::int64_t> time_ps;  // when the later one of the first pair was submitted
};

using Rows = std::vector<std::pair<std::string, std::int64_t>>;  // name and value, in the order of the report

// The reference solution's figures of the same case.
struct Reference {
  Rows metrics;
  std::map<std::string, double> figures;
  double cpu_ms = 0;
  nlohmann::ordered_json trace;  // T of docs/architecture.md §10; null when there is none
};

struct CaseOutcome {
  spec::Case plan;
  Status status = Status::not_run;
  Phase phase = Phase::load;
  std::optional<Reason> reason;
  std::string output;  // what the submission printed
  bool output_cut = false;
  Rows metrics;                                        // of the card; empty without one
  std::map<std::string, std::int64_t> input_integers;  // that the lab's inputs() set
  std::map<std::string, double> figures;               // the judge's
  std::map<std::string, Finding> findings;             // the judge's
  std::optional<Reference> reference;
  std::vector<Hazard> hazards;     // groups, the first 20
  std::vector<std::string> notes;  // odd but legal: bytes read that nothing has written
  nlohmann::ordered_json trace;
  nlohmann::ordered_json card;                                          // what it can do; null without one
  nlohmann::ordered_json mismatches = nlohmann::ordered_json::array();  // the judge's, as they stand in the report
  nlohmann::ordered_json charts = nlohmann::ordered_json::array();
  bool from_threads = false;       // threads of the submission drove the card: its time is ordered by arrival
  double cpu_ms = 0, wall_ms = 0;  // shown, never graded

  // A metric, else a figure of that name.
  std::optional<double> quantity(const std::string& name) const;
  std::optional<double> reference_quantity(const std::string& name) const;
  // A parameter of the scenario, else an integer among the inputs.
  std::optional<double> parameter(const std::string& name) const;
};

nlohmann::ordered_json to_json(const Rows& rows);
Rows rows_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json to_json(const Reference& reference);
Reference reference_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json to_json(const spec::Case& plan);
spec::Case case_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json to_json(const CaseOutcome& outcome);
nlohmann::ordered_json to_json(const Hazard& hazard);
// Throws nlohmann's exceptions for a text that to_json did not make: both ends are ours.
CaseOutcome outcome_from(const nlohmann::ordered_json& json);

}  // namespace labrig::grade
