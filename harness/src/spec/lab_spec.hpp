// A lab as its lab.toml describes it (docs/architecture.md §9): tasks, scenarios, checks, limits. Read by lab_toml.cpp;
// turned into cases by plan.hpp; turned into points by ../grade/points.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/device.hpp"
#include "labrig/error.hpp"

namespace labrig::spec {

enum class Visibility : std::uint8_t { visible, hidden };
inline const char* name_of(Visibility visibility) { return visibility == Visibility::hidden ? "hidden" : "visible"; }

// Of one case.
struct Limits {
  std::int64_t cpu_ms = 4000;      // CPU time of the worker
  std::int64_t memory_mib = 1024;  // of the worker
  std::int64_t output_kib = 64;    // of stdout and stderr that is kept
  std::int64_t device_mib = 512;   // real bytes of simulated device memory
};

struct Task {
  std::int64_t id = 0;
  std::string title;
};

// A number, or for hidden scenarios a range: from, from + step, …, up to `to`.
struct Parameter {
  std::string name;
  double from = 0, to = 0, step = 0;  // fixed: from == to
};

struct ScenarioSpec {
  std::string id, kind;
  Visibility visibility = Visibility::visible;
  DeviceType device = DeviceType::sim;
  std::vector<std::string> profiles;  // one case each; may be empty on the host: one case
  int cards = 1;                      // of the profile, sim:0 …
  int card = 0;                       // the one that the submission is asked to use
  std::int64_t capacity_mib = 0;      // of the card; 0: as in the profile
  bool data = true;                   // false: cost-only
  bool reads_zeros = false;           // cost-only: a value that is read is 0, instead of an error
  std::vector<Parameter> parameters;  // by name
};

enum class Rule : std::uint8_t { values, ordered, finding, ratio, at_most, equals, accuracy };
enum class Combine : std::uint8_t { mean, worst };

struct Explain {
  std::string what, cause, next;
};

// What usually causes a reason of one code, and what to do about it.
struct Cause {
  std::string cause, next;
};

// One rule and what is said when it takes points.
struct Condition {
  Rule rule = Rule::values;
  std::vector<std::string> metric;  // summed
  std::string finding;  // that decides; with a rule on a metric: that says why points are lost, where it says something
  bool more_is_better = false;
  // at_most takes one of the three; equals takes `limit`.
  std::optional<double> limit;
  std::string limit_parameter;  // a parameter of the scenario, or an integer that inputs() set
  std::optional<double> reference_times;
  double plus = 0;
  std::string code, text;
};

// The check's own condition, and further ones: the share of a case is the smallest of all.
struct CheckSpec : Condition {
  std::string id;
  std::int64_t task = 0;
  std::string title_passed, title_failed;
  double points = 0;
  Visibility visibility = Visibility::visible;
  std::vector<std::string> kinds;
  std::optional<std::vector<std::string>> needs;  // absent: the gate
  Combine combine = Combine::mean;
  std::vector<Condition> also;
  std::optional<Explain> explain;
  std::map<std::string, Cause> causes;  // by code of the reason: instead of explain's cause and next
  std::vector<std::string> hints;       // nudge, idea, nearly the answer
  std::vector<std::string> facts;
  std::string handout;
};

struct LabSpec {
  std::filesystem::path folder;  // where lab.toml lies; empty when parsed from a text
  std::string id, version, title;
  double pass_mark = 60;
  double points = 100;  // what the checks sum to; less in a student's kit of a lab with hidden checks
  std::vector<std::string> files;
  std::vector<std::string> forbidden_imports;
  Limits limits;
  std::vector<Task> tasks;
  std::vector<ScenarioSpec> scenarios;
  std::vector<CheckSpec> checks;

  const CheckSpec* check(std::string_view check_id) const;
};

// `file` names the text in errors; `handout` is the rendered handout, whose anchors the checks name (empty: not looked
// at). Error `bad-lab-toml`, or `bad-toml` when it is not TOML at all; the first sentence
// begins with file:line:column.
Result<LabSpec> parse_lab(std::string_view text, const std::string& file, const std::string& handout = "");
// Reads <folder>/lab.toml.
Result<LabSpec> load_lab(const std::filesystem::path& folder);

}  // namespace labrig::spec
