#include "grade/outcome.hpp"

#include <fmt/format.h>

#include <array>

#include "labrig/error.hpp"

namespace labrig::grade {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array kStatuses = {"ok",        "wrong_values",  "hazard",        "crashed",
                                  "timed_out", "out_of_memory", "stopped_early", "over_limit",
                                  "fault",     "not_run"};
constexpr std::array kPhases = {"load", "init", "call", "teardown"};

template <class Enum, class Names>
Enum from_name(const Names& names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw Error("bad-outcome", "'" + std::string(name) + "' is no status and no phase",
              "an outcome was written by another version of labrig", "grade again");
}

std::optional<double> find(const Rows& rows, const std::map<std::string, double>& figures, const std::string& name) {
  for (const auto& [key, value] : rows)
    if (key == name) return static_cast<double>(value);
  if (const auto found = figures.find(name); found != figures.end()) return found->second;
  return std::nullopt;
}

}  // namespace

const char* name_of(Status status) { return kStatuses[static_cast<std::size_t>(status)]; }
const char* name_of(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }
Status status_from(std::string_view name) { return from_name<Status>(kStatuses, name); }
Phase phase_from(std::string_view name) { return from_name<Phase>(kPhases, name); }
bool returned(Status status) { return status <= Status::hazard; }

std::optional<double> CaseOutcome::quantity(const std::string& name) const { return find(metrics, figures, name); }
std::optional<double> CaseOutcome::reference_quantity(const std::string& name) const {
  return reference ? find(reference->metrics, reference->figures, name) : std::nullopt;
}

std::optional<double> CaseOutcome::parameter(const std::string& name) const {
  if (const auto found = plan.parameters.find(name); found != plan.parameters.end()) return found->second;
  if (const auto found = input_integers.find(name); found != input_integers.end())
    return static_cast<double>(found->second);
  return std::nullopt;
}

Json to_json(const Rows& rows) {
  Json json = Json::object();
  for (const auto& [name, value] : rows) json[name] = value;
  return json;
}

Rows rows_from(const Json& json) {
  Rows rows;
  for (const auto& [name, value] : json.items()) rows.emplace_back(name, value.get<std::int64_t>());
  return rows;
}

Json to_json(const Reference& reference) {
  return {{"metrics", to_json(reference.metrics)},
          {"figures", reference.figures},
          {"cpu_ms", reference.cpu_ms},
          {"trace", reference.trace}};
}

Reference reference_from(const Json& json) {
  Reference reference;
  reference.metrics = rows_from(json.at("metrics"));
  json.at("figures").get_to(reference.figures);
  json.at("cpu_ms").get_to(reference.cpu_ms);
  reference.trace = json.at("trace");
  return reference;
}

Json to_json(const spec::Case& plan) {
  return {{"id", plan.id},
          {"scenario", plan.scenario},
          {"kind", plan.kind},
          {"profile", plan.profile},
          {"device", labrig::name_of(plan.device)},
          {"cards", plan.cards},
          {"card", plan.card},
          {"visibility", spec::name_of(plan.visibility)},
          {"capacity_mib", plan.capacity_mib},
          {"data", plan.data},
          {"reads_zeros", plan.reads_zeros},
          {"parameters", plan.parameters},
          {"seed", plan.seed}};
}

spec::Case case_from(const Json& json) {
  spec::Case plan;
  json.at("id").get_to(plan.id);
  json.at("scenario").get_to(plan.scenario);
  json.at("kind").get_to(plan.kind);
  json.at("profile").get_to(plan.profile);
  plan.device = json.at("device") == "cpu" ? DeviceType::cpu : DeviceType::sim;
  json.at("cards").get_to(plan.cards);
  json.at("card").get_to(plan.card);
  plan.visibility = json.at("visibility") == "hidden" ? spec::Visibility::hidden : spec::Visibility::visible;
  json.at("capacity_mib").get_to(plan.capacity_mib);
  json.at("data").get_to(plan.data);
  json.at("reads_zeros").get_to(plan.reads_zeros);
  json.at("parameters").get_to(plan.parameters);
  json.at("seed").get_to(plan.seed);
  return plan;
}

namespace {

Json to_json(const Hazard::Side& side) {
  return {{"what", side.what}, {"stream", side.stream ? Json(*side.stream) : Json(nullptr)}};
}

Hazard::Side side_from(const Json& json) {
  Hazard::Side side;
  json.at("what").get_to(side.what);
  if (!json.at("stream").is_null()) side.stream = json.at("stream").get<std::int64_t>();
  return side;
}

Hazard hazard_from(const Json& json) {
  Hazard hazard;
  json.at("kind").get_to(hazard.kind);
  json.at("text").get_to(hazard.text);
  json.at("count").get_to(hazard.count);
  hazard.earlier = side_from(json.at("earlier"));
  hazard.later = side_from(json.at("later"));
  json.at("buffer").get_to(hazard.buffer);
  json.at("bytes").get_to(hazard.bytes);
  if (json.contains("time_ps")) hazard.time_ps = json.at("time_ps").get<std::int64_t>();
  return hazard;
}

}  // namespace

Json to_json(const Hazard& hazard) {
  Json json = {{"kind", hazard.kind},
               {"text", hazard.text},
               {"count", hazard.count},
               {"earlier", to_json(hazard.earlier)},
               {"later", to_json(hazard.later)},
               {"buffer", hazard.buffer},
               {"bytes", hazard.bytes}};
  if (hazard.time_ps) json["time_ps"] = *hazard.time_ps;
  return json;
}

std::string in_full(const Reason& reason) {
  if (reason.why.empty() && reason.fix.empty()) return reason.text;
  const char* between = reason.why.empty() || reason.fix.empty() ? "" : "; ";
  return fmt::format("{} ({}{}{})", reason.text, reason.why, between, reason.fix);
}

Json to_json(const CaseOutcome& outcome) {
  Json json = {{"plan", to_json(outcome.plan)},
               {"status", name_of(outcome.status)},
               {"phase", name_of(outcome.phase)},
               {"reason", nullptr},
               {"output", outcome.output},
               {"output_cut", outcome.output_cut},
               {"metrics", to_json(outcome.metrics)},
               {"input_integers", outcome.input_integers},
               {"figures", outcome.figures},
               {"findings", Json::object()},
               {"reference", nullptr},
               {"hazards", Json::array()},
               {"notes", outcome.notes},
               {"trace", outcome.trace},
               {"card", outcome.card},
               {"mismatches", outcome.mismatches},
               {"charts", outcome.charts},
               {"from_threads", outcome.from_threads},
               {"cpu_ms", outcome.cpu_ms},
               {"wall_ms", outcome.wall_ms}};
  if (const std::optional<Reason>& reason = outcome.reason)
    json["reason"] = {{"code", reason->code}, {"text", reason->text}, {"why", reason->why}, {"fix", reason->fix}};
  for (const auto& [name, finding] : outcome.findings)
    json["findings"][name] = {{"share", finding.share}, {"code", finding.code}, {"text", finding.text}};
  if (outcome.reference) json["reference"] = to_json(*outcome.reference);
  for (const Hazard& hazard : outcome.hazards) json["hazards"].push_back(to_json(hazard));
  return json;
}

CaseOutcome outcome_from(const Json& json) {
  CaseOutcome outcome;
  outcome.plan = case_from(json.at("plan"));
  outcome.status = status_from(json.at("status").get<std::string>());
  outcome.phase = phase_from(json.at("phase").get<std::string>());
  if (const Json& reason = json.at("reason"); !reason.is_null())
    outcome.reason = Reason{reason.at("code"), reason.at("text"), reason.at("why"), reason.at("fix")};
  json.at("output").get_to(outcome.output);
  json.at("output_cut").get_to(outcome.output_cut);
  outcome.metrics = rows_from(json.at("metrics"));
  json.at("input_integers").get_to(outcome.input_integers);
  json.at("figures").get_to(outcome.figures);
  for (const auto& [name, finding] : json.at("findings").items())
    outcome.findings[name] = {finding.at("share"), finding.at("code"), finding.at("text")};
  if (const Json& reference = json.at("reference"); !reference.is_null()) outcome.reference = reference_from(reference);
  for (const Json& hazard : json.at("hazards")) outcome.hazards.push_back(hazard_from(hazard));
  json.at("notes").get_to(outcome.notes);
  outcome.trace = json.at("trace");
  outcome.card = json.at("card");
  outcome.mismatches = json.at("mismatches");
  outcome.charts = json.at("charts");
  json.at("from_threads").get_to(outcome.from_threads);
  json.at("cpu_ms").get_to(outcome.cpu_ms);
  json.at("wall_ms").get_to(outcome.wall_ms);
  return outcome;
}

}  // namespace labrig::grade
