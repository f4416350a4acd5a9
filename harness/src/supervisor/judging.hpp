// The lab's judge, run by the supervisor: makes the inputs of a case, and says what the outputs are worth.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "grade/outcome.hpp"
#include "labrig/lab.hpp"
#include "loader/loaded_plugin.hpp"
#include "spec/plan.hpp"

namespace labrig::supervisor {

// One judge object for one case: cases run side by side, and an object is not shared.
class Judge {
 public:
  // Loads <lab folder>/judge.so. Throws the Error of the rung that failed.
  Judge(const std::filesystem::path& lab_folder, const std::string& lab_id);

  lab::Values inputs(const spec::Case& plan);
  // Fills status, reason, figures and findings of an outcome whose call came back. Throws what the judge throws, but
  // for an output that is missing or of another type: that is the submission's, and wrong.
  void judge(const lab::Values& inputs, const lab::Values& outputs, grade::CaseOutcome& outcome);

 private:
  lab::JudgeModule& module() { return *static_cast<lab::JudgeModule*>(plugin_.object()); }
  loader::LoadedPlugin plugin_;
};

lab::Scenario scenario_of(const spec::Case& plan);

}  // namespace labrig::supervisor
