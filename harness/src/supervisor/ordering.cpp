#include "supervisor/ordering.hpp"

#include <fmt/format.h>

namespace labrig::supervisor {

using grade::CaseOutcome;
using grade::Reason;
using grade::Status;

namespace {

// "h2d_copies 3 and 4", …; empty when both runs were counted alike. How many hazards there are is compared as well:
// both ledgers see the same accesses.
std::string differences(const CaseOutcome& eager, const CaseOutcome& late) {
  std::string text;
  for (const auto& [name, value] : eager.metrics) {
    const double there = late.quantity(name).value_or(-1);
    if (there != static_cast<double>(value))
      text += fmt::format("{}{} {} and {:.0f}", text.empty() ? "" : ", ", name, value, there);
  }
  return text;
}

void set_hazards(CaseOutcome& outcome, std::int64_t count) {
  for (auto& [name, value] : outcome.metrics)
    if (name == "hazards") value = std::max(value, count);
}

CaseOutcome as_hazard(CaseOutcome outcome, std::string code, std::string text) {
  set_hazards(outcome, 1);
  if (outcome.status != Status::ok) return outcome;  // wrong values come first
  outcome.status = Status::hazard;
  outcome.reason = Reason{std::move(code), std::move(text)};
  return outcome;
}

// What was wrong only when the card worked late says more about the order than any text.
void take_mismatches(CaseOutcome& eager, const CaseOutcome& late) {
  if (!eager.mismatches.empty()) return;
  eager.mismatches = late.mismatches;
  for (auto& mismatch : eager.mismatches)
    mismatch["what"] = mismatch["what"].get<std::string>() + ", when the card works as late as it may";
}

// "hazard: kernel …" is a heading of its own in reports.
std::string without_heading(const std::string& text) { return text.starts_with("hazard: ") ? text.substr(8) : text; }

}  // namespace

bool wants_late_run(const CaseOutcome& eager) {
  return eager.plan.device == DeviceType::sim && eager.plan.data && eager.status == Status::ok;
}

CaseOutcome with_order(CaseOutcome eager, const std::optional<CaseOutcome>& late) {
  if (late && (late->status == Status::fault || late->status == Status::not_run)) {
    eager.status = late->status;
    eager.reason = late->reason;
    return eager;
  }
  if (late && !late->hazards.empty()) eager.hazards = late->hazards;
  if (late && eager.notes.empty()) eager.notes = late->notes;
  if (late) take_mismatches(eager, *late);
  if (!eager.hazards.empty()) {
    if (late) set_hazards(eager, static_cast<std::int64_t>(late->quantity("hazards").value_or(0)));
    const grade::Hazard first = eager.hazards.front();
    return as_hazard(std::move(eager), first.kind, without_heading(first.text));
  }
  if (!late) return eager;
  if (late->status != Status::ok) {
    const Reason why = late->reason.value_or(Reason{grade::name_of(late->status), ""});
    return as_hazard(
        std::move(eager), "wrong-when-late",
        fmt::format("right when the card works at once, but not when it works as late as it may: {}", why.text));
  }
  // Threads race, so two runs of theirs may differ.
  const std::string different = differences(eager, *late);
  if (different.empty() || eager.from_threads || late->from_threads) return eager;
  return as_hazard(
      std::move(eager), "runs-differ",
      fmt::format("run once with the card at once and once as late as it may, the same call did not do the "
                  "same ({}): it goes by something besides its inputs, such as memory that a copy was still "
                  "writing, random numbers, the time or an address",
                  different));
}

}  // namespace labrig::supervisor
