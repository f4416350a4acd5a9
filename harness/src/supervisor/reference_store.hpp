// The reference solution's figures, computed once: first those that ship with the lab (reference.json), then a cache of
// this user's. Figures depend on the case's shape and profile, never on the data, so one key serves every submission.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grade/outcome.hpp"
#include "spec/lab_spec.hpp"
#include "spec/plan.hpp"

namespace labrig::supervisor {

// Of everything that figures depend on: lab and version, scenario, drawn parameters, profile, public headers.
std::string case_key(const spec::LabSpec& lab, const spec::Case& plan);

class ReferenceStore {
 public:
  // `made_with` names the files that figures in the cache were made with (solution, modules, core): when one of them
  // changes, what is in the cache no longer counts. An empty `cache`: nothing is kept.
  ReferenceStore(const spec::LabSpec& lab, std::filesystem::path cache,
                 const std::vector<std::filesystem::path>& made_with);

  // Without a trace where only the figures ship and none has been kept yet.
  std::optional<grade::Reference> find(const spec::Case& plan) const;
  // Kept for the next run; a cache that cannot be written is passed over.
  void keep(const spec::Case& plan, const grade::Reference& reference) const;

 private:
  std::optional<grade::Reference> find_cached(const spec::Case& plan) const;
  std::filesystem::path cache_file(const spec::Case& plan) const;

  const spec::LabSpec& lab_;
  std::filesystem::path cache_;
  std::string stamp_;
  std::map<std::string, grade::Reference> shipped_;  // by case key
};

// The content of a lab's reference.json: figures without traces, so that a change can be read; with them for a kit,
// whose reports then show the reference's timeline. CPU times are rounded up, so that the file stays the same from run
// to run.
std::string shipped_figures(const spec::LabSpec& lab, const std::vector<grade::CaseOutcome>& outcomes,
                            bool with_traces = false);

}  // namespace labrig::supervisor
