// The lab's judge, run by the supervisor: makes the inputs of a case, and says what the outputs are worth.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "grade/outcome.hpp"
#include "labrig/lab.hpp"
#include "loader/loaded_plugin.hpp"
#include "spec/plan.hpp"

namespace labrig::supervisor {

// One judge object for one case. Cases run side by side, but a lab's code is called by one thread at a time: it may use
// what a process has once, a simulated card of its own for instance.
class Judge {
 public:
  // Loads <lab folder>/judge.so. `one_at_a_time` is shared by all judges of a process. Throws the Error of the rung
  // that failed.
  Judge(const std::filesystem::path& lab_folder, const std::string& lab_id, std::mutex& one_at_a_time);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  lab::Values inputs(const spec::Case& plan);
  // Fills status, reason, figures, findings, mismatches and charts of an outcome whose call came back. Throws what the
  // judge throws, but for an output that is missing, or of another type or shape: that is the submission's, and wrong.
  // `reference`: what the reference solution does in the case; null when that is what is judged.
  void judge(const lab::Values& inputs, const lab::Values& outputs, const grade::Reference* reference,
             grade::CaseOutcome& outcome);

 private:
  lab::JudgeModule& module() { return *static_cast<lab::JudgeModule*>(plugin_->object()); }

  std::mutex& one_at_a_time_;
  std::optional<loader::LoadedPlugin> plugin_;
};

lab::Scenario scenario_of(const spec::Case& plan);

}  // namespace labrig::supervisor
