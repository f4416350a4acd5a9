#include "worker/debug.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>

#include "backends/sim/machine.hpp"
#include "grade/outcome.hpp"
#include "loader/loaded_plugin.hpp"
#include "store/digest.hpp"
#include "supervisor/card_facts.hpp"
#include "supervisor/job.hpp"
#include "supervisor/judging.hpp"
#include "supervisor/ordering.hpp"
#include "worker/call_submission.hpp"
#include "worker/failure.hpp"

namespace labrig::worker {

using grade::CaseOutcome;
using grade::Status;
using Json = nlohmann::ordered_json;

namespace {

// Only the class of the submission goes wrong here: the lab's own errors leave through main.
CaseOutcome run_case(const spec::LabSpec& lab, const supervisor::Job& job, const spec::Case& plan) {
  CaseOutcome outcome;
  outcome.plan = plan;
  std::mutex alone;
  supervisor::Judge judge(lab.folder, lab.id, alone);
  const lab::Values inputs = judge.inputs(plan);
  loader::LoadedPlugin module(lab.folder / "call.so", loader::Expectation{LABRIG_LAB_CALL_KIND, lab.id, {}});
  std::unique_ptr<sim::InProcessMachine> machine;
  Device device;
  if (plan.device == DeviceType::sim) {
    machine = std::make_unique<sim::InProcessMachine>(supervisor::machine_options(plan, lab.limits, sim::Mode::eager));
    device = spec::device_of(plan);
  }
  std::optional<lab::Values> outputs;
  try {
    loader::LoadedPlugin submission(job.submission, loader::Expectation{LABRIG_SUBMISSION_KIND, lab.id, {}});
    outcome.phase = grade::Phase::call;
    outputs = call_submission(*static_cast<lab::CallModule*>(module.object()), submission.object(), inputs, device);
  } catch (...) {
    const Failure failure = describe_current_exception();
    outcome.status = Status::crashed;
    outcome.reason = grade::Reason{failure.code, failure.text};
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

// As in a report, as far as it is known here.
Json summary(const CaseOutcome& outcome) {
  Json json = {
      {"id", outcome.plan.id}, {"status", grade::name_of(outcome.status)},   {"phase", grade::name_of(outcome.phase)},
      {"reason", nullptr},     {"metrics", grade::to_json(outcome.metrics)}, {"figures", outcome.figures}};
  if (outcome.reason) json["reason"] = {{"code", outcome.reason->code}, {"text", outcome.reason->text}};
  return json;
}

void print(const CaseOutcome& outcome) {
  std::string line = fmt::format("{}: {}", outcome.plan.id, grade::name_of(outcome.status));
  if (outcome.reason) line += fmt::format("\n  why: {}", outcome.reason->text);
  for (const grade::Hazard& hazard : outcome.hazards) line += "\n" + hazard.text;
  for (const auto& [name, value] : outcome.metrics)
    if (value != 0) line += fmt::format("\n  {:<22} {}", name, value);
  fmt::print("{}\n", line);
}

}  // namespace

int debug(const std::filesystem::path& job_file, bool json) {
  const supervisor::Job job = supervisor::job_from(Json::parse(store::read_file(job_file).value()));
  const spec::LabSpec lab = spec::load_lab(job.lab).value();
  bool all_ok = true;
  Json cases = Json::array();
  for (const spec::Case& plan : job.cases) {
    const CaseOutcome outcome = run_case(lab, job, plan);
    all_ok = all_ok && outcome.status == Status::ok;
    if (json)
      cases.push_back(summary(outcome));
    else
      print(outcome);
    std::fflush(stdout);
  }
  if (json) fmt::print("{}\n", Json{{"cases", cases}}.dump(2, ' ', false, Json::error_handler_t::replace));
  return all_ok ? 0 : 1;
}

}  // namespace labrig::worker
