#include "supervisor/judging.hpp"

#include "supervisor/verdict_json.hpp"

namespace labrig::supervisor {

namespace {

// The reason code for an error that a judge met in a submission's outputs: the reference's went through the same judge.
std::optional<std::string> of_the_outputs(const std::string& code) {
  if (code == "no-such-value") return "missing-output";
  if (code == "dtype-mismatch") return "wrong-dtype";
  if (code == "shape-mismatch" || code == "invalid-shape") return "wrong-shape";
  return std::nullopt;
}

}  // namespace

lab::Scenario scenario_of(const spec::Case& plan) {
  lab::Scenario scenario;
  scenario.id = plan.scenario;
  scenario.kind = plan.kind;
  scenario.profile = plan.profile;
  scenario.device = spec::device_of(plan);
  scenario.parameters = plan.parameters;
  return scenario;
}

Judge::Judge(const std::filesystem::path& lab_folder, const std::string& lab_id, std::mutex& one_at_a_time)
    : one_at_a_time_(one_at_a_time) {
  const std::lock_guard lock(one_at_a_time_);
  plugin_.emplace(lab_folder / "judge.so", loader::Expectation{LABRIG_LAB_JUDGE_KIND, lab_id, {}});
}

Judge::~Judge() {
  const std::lock_guard lock(one_at_a_time_);
  plugin_.reset();
}

lab::Values Judge::inputs(const spec::Case& plan) {
  const std::lock_guard lock(one_at_a_time_);
  lab::Values values;
  lab::Random random(plan.seed);
  module().inputs(scenario_of(plan), random, values);
  return values;
}

void Judge::judge(const lab::Values& inputs, const lab::Values& outputs, const grade::Reference* reference,
                  grade::CaseOutcome& outcome) {
  const std::lock_guard lock(one_at_a_time_);
  lab::Verdict verdict;
  for (const auto& [name, value] : outcome.metrics) verdict.counted[name] = static_cast<double>(value);
  for (const auto& [name, value] : reference != nullptr ? reference->metrics : outcome.metrics)
    verdict.reference[name] = static_cast<double>(value);
  try {
    module().judge(scenario_of(outcome.plan), inputs, outputs, verdict);
  } catch (const Error& error) {
    const std::optional<std::string> code = of_the_outputs(error.code());
    if (!code) throw;
    verdict.wrong(*code, error.what());
  }
  for (const auto& [name, value] : inputs.all())
    if (const auto* integer = std::get_if<std::int64_t>(&value)) outcome.input_integers[name] = *integer;
  outcome.figures = verdict.figures;
  for (const auto& [name, finding] : verdict.findings)
    outcome.findings[name] = {finding.share, finding.code, finding.text};
  outcome.mismatches = mismatches_json(verdict);
  outcome.charts = charts_json(verdict);
  outcome.status = verdict.values_right ? grade::Status::ok : grade::Status::wrong_values;
  if (!verdict.values_right) outcome.reason = grade::Reason{verdict.code, verdict.text};
}

}  // namespace labrig::supervisor
