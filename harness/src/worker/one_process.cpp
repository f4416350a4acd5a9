#include "worker/one_process.hpp"

#include <memory>
#include <mutex>
#include <optional>

#include "backends/sim/machine.hpp"
#include "loader/loaded_plugin.hpp"
#include "supervisor/card_facts.hpp"
#include "supervisor/judging.hpp"
#include "supervisor/ordering.hpp"
#include "worker/call_submission.hpp"
#include "worker/failure.hpp"

namespace labrig::worker {

using grade::CaseOutcome;
using grade::Status;

CaseOutcome run_in_this_process(const spec::LabSpec& lab, const std::filesystem::path& plugin, const spec::Case& plan) {
  CaseOutcome outcome;
  outcome.plan = plan;
  std::mutex alone;
  supervisor::Judge judge(lab.folder, lab.id, alone);
  const lab::Values inputs = judge.inputs(plan);
  loader::LoadedPlugin module(lab.folder / "call.so", loader::Expectation{LABRIG_LAB_CALL_KIND, lab.id, {}});
  std::unique_ptr<sim::InProcessMachine> machine;
  if (plan.device == DeviceType::sim)
    machine = std::make_unique<sim::InProcessMachine>(supervisor::machine_options(plan, lab.limits, sim::Mode::eager));
  std::optional<lab::Values> outputs;
  try {
    loader::LoadedPlugin submission(plugin, loader::Expectation{LABRIG_SUBMISSION_KIND, lab.id, {}});
    outcome.phase = grade::Phase::call;
    outputs = call_submission(*static_cast<lab::CallModule*>(module.object()), submission.object(), inputs,
                              spec::device_of(plan));
  } catch (...) {
    const Failure failure = describe_current_exception();
    outcome.status = Status::crashed;
    outcome.reason = grade::Reason{failure.code, failure.text, failure.why, failure.fix};
  }
  if (machine) {
    const sim::Report report = machine->report();
    outcome.metrics = supervisor::metric_rows(plan, report);
    outcome.hazards = supervisor::hazards_of(report);
  }
  machine.reset();  // the judge may want a card of its own
  if (outputs) judge.judge(inputs, *outputs, nullptr, outcome);
  return supervisor::with_order(std::move(outcome), std::nullopt);
}

}  // namespace labrig::worker
