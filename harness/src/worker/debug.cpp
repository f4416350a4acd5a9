#include "worker/debug.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "store/digest.hpp"
#include "supervisor/job.hpp"
#include "worker/one_process.hpp"

namespace labrig::worker {

using grade::CaseOutcome;
using grade::Status;
using Json = nlohmann::ordered_json;

namespace {

// As in a report, as far as it is known here.
Json summary(const CaseOutcome& outcome) {
  Json json = {
      {"id", outcome.plan.id}, {"status", grade::name_of(outcome.status)},   {"phase", grade::name_of(outcome.phase)},
      {"reason", nullptr},     {"metrics", grade::to_json(outcome.metrics)}, {"figures", outcome.figures}};
  if (outcome.reason) json["reason"] = {{"code", outcome.reason->code}, {"text", grade::in_full(*outcome.reason)}};
  return json;
}

void print(const CaseOutcome& outcome) {
  std::string line = fmt::format("{}: {}", outcome.plan.id, grade::name_of(outcome.status));
  if (outcome.reason) line += fmt::format("\n  why: {}", grade::in_full(*outcome.reason));
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
    const CaseOutcome outcome = run_in_this_process(lab, job.submission, plan);
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
