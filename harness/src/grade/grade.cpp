#include "grade/grade.hpp"

#include <fmt/format.h>

#include <cmath>

#include "grade/points.hpp"
#include "grade/words.hpp"

namespace labrig::grade {

using Json = nlohmann::ordered_json;

namespace {

Json reason_json(const std::string& code, const std::string& text) { return {{"code", code}, {"text", text}}; }

Json head(const spec::LabSpec& spec, const Submission& submission) {
  Json report;
  report["schema"] = "labrig.report/1";
  report["lab"] = {{"id", spec.id}, {"version", spec.version}, {"title", spec.title}, {"pass_mark", spec.pass_mark}};
  report["submission"] = {{"name", submission.name}, {"hash", submission.hash}, {"source", submission.source}};
  return report;
}

Json tasks_json(const spec::LabSpec& spec) {
  Json tasks = Json::array();
  for (const spec::Task& task : spec.tasks) tasks.push_back({{"id", task.id}, {"title", task.title}});
  return tasks;
}

// Infinity and NaN have no JSON: null.
Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json metrics_json(const CaseShare& share) {
  const Quantities& q = share.quantities;
  Json json = Json::object();
  if (!q.value) return json;
  json["value"] = *q.value;
  if (q.reference) json["reference"] = *q.reference;
  if (q.limit) json["limit"] = *q.limit;
  if (q.ratio) json["ratio"] = number(q.ratio);
  json["unit"] = unit_of(share.condition->metric);
  return json;
}

Json check_head(const spec::CheckSpec& check, CheckStatus status, double points) {
  const bool failed = status == CheckStatus::partial || status == CheckStatus::failed;
  return {{"id", check.id},
          {"task", check.task},
          {"title", failed ? check.title_failed : check.title_passed},
          {"status", name_of(status)},
          {"points", points},
          {"max_points", check.points}};
}

void check_tail(Json& json, const spec::CheckSpec& check) {
  json["hints"] = check.hints;
  json["facts"] = check.facts;
  json["visibility"] = spec::name_of(check.visibility);
  json["handout"] = check.handout.empty() ? Json(nullptr) : Json(check.handout);
}

Json check_json(const spec::LabSpec& spec, const CheckResult& result) {
  const spec::CheckSpec& check = *result.spec;
  Json json = check_head(check, result.status, result.points);
  json["reason"] = nullptr;
  if (result.cases.empty()) {
    json["reason"] = reason_json("no-case", "none of the check's cases belongs to this run");
  } else if (const CaseShare& share = result.cases[*result.deciding]; share.loss != Loss::none) {
    json["reason"] = reason_json(share.code, reason_text(share));
  }
  check_tail(json, check);
  json["explain"] = explain(spec, result);
  json["metrics"] = result.deciding ? metrics_json(result.cases[*result.deciding]) : Json::object();
  json["cases"] = Json::array();
  for (const CaseShare& share : result.cases)
    json["cases"].push_back({{"case", share.outcome->plan.id},
                             {"share", share.share},
                             {"code", share.code.empty() ? Json(nullptr) : Json(share.code)}});
  return json;
}

Json case_json(const CaseOutcome& outcome) {
  const spec::Case& plan = outcome.plan;
  Json json = {{"id", plan.id},
               {"scenario", plan.scenario},
               {"kind", plan.kind},
               {"device", spec::device_of(plan).str()},
               {"profile", plan.profile == spec::kNoProfile ? Json(nullptr) : Json(plan.profile)},
               {"seed", fmt::format("0x{:x}", plan.seed)},
               {"visibility", spec::name_of(plan.visibility)},
               {"status", name_of(outcome.status)},
               {"phase", name_of(outcome.phase)},
               {"reason", nullptr},
               {"output", {{"text", outcome.output}, {"cut", outcome.output_cut}}},
               {"parameters", Json::object()},
               {"metrics", to_json(outcome.metrics)},
               {"figures", Json::object()},
               {"reference", outcome.reference ? to_json(outcome.reference->metrics) : Json::object()},
               {"hazards", Json::array()},
               {"notes", outcome.notes},
               {"trace", nullptr},
               {"card", outcome.card},
               {"mismatches", outcome.mismatches},
               {"charts", outcome.charts}};
  for (const Hazard& hazard : outcome.hazards) json["hazards"].push_back(to_json(hazard));
  if (outcome.reason) json["reason"] = reason_json(outcome.reason->code, in_full(*outcome.reason));
  for (const auto& [name, value] : plan.parameters) json["parameters"][name] = value;
  for (const auto& [name, value] : outcome.figures) json["figures"][name] = number(value);
  const Json reference_trace = outcome.reference ? outcome.reference->trace : Json(nullptr);
  if (!outcome.trace.is_null() || !reference_trace.is_null())
    json["trace"] = {{"submission", outcome.trace}, {"reference", reference_trace}};
  return json;
}

}  // namespace

Json grade(const spec::LabSpec& spec, std::span<const CaseOutcome> cases, const Submission& submission) {
  const std::vector<CheckResult> results = evaluate(spec, cases);
  double score = 0, max_score = 0;
  bool fault = false;
  for (const CheckResult& result : results) {
    fault = fault || result.status == CheckStatus::fault;
    if (result.status == CheckStatus::skipped) continue;
    score += result.points;
    max_score += result.spec->points;
  }
  score = round_points(score);
  max_score = round_points(max_score);
  const bool passed = !fault && max_score > 0 && score >= spec.pass_mark / 100 * max_score - 1e-9;

  Json report = head(spec, submission);
  report["score"] = fault ? Json(nullptr) : Json(score);
  report["max_score"] = max_score;
  report["passed"] = passed;
  report["verdict"] = verdict_sentence(spec, results, score, max_score, passed);
  report["next_step"] = fault ? Json(nullptr) : next_step(spec, results);
  report["tasks"] = tasks_json(spec);
  report["checks"] = Json::array();
  for (const CheckResult& result : results) report["checks"].push_back(check_json(spec, result));
  report["cases"] = Json::array();
  for (const CaseOutcome& outcome : cases) report["cases"].push_back(case_json(outcome));
  return report;
}

Json grade_refused(const spec::LabSpec& spec, const Submission& submission, const Error& refusal) {
  Json report = head(spec, submission);
  report["score"] = 0.0;
  report["max_score"] = 100.0;
  report["passed"] = false;
  report["verdict"] = fmt::format("Refused before any of its code ran: {}.", refusal.what());
  const std::string reason =
      refusal.why().empty() ? refusal.what() : fmt::format("{}:\n{}", refusal.what(), refusal.why());
  report["next_step"] = {
      {"check", ""}, {"text", fmt::format("{}\n{}", reason, refusal.fix())}, {"command", "labrig check ."}};
  report["tasks"] = tasks_json(spec);
  report["checks"] = Json::array();
  for (const spec::CheckSpec& check : spec.checks) {
    Json json = check_head(check, CheckStatus::failed, 0);
    json["reason"] = reason_json(refusal.code(), reason);
    check_tail(json, check);
    json["explain"] = {{"what", refusal.what()},
                       {"where", "before the submission was loaded"},
                       {"cause", refusal.why()},
                       {"next", refusal.fix()},
                       {"evidence", refusal.why()}};
    json["metrics"] = Json::object();
    json["cases"] = Json::array();
    report["checks"].push_back(json);
  }
  report["cases"] = Json::array();
  return report;
}

}  // namespace labrig::grade
