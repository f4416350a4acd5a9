#include "grade/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "units.hpp"

namespace labrig::grade {

using Json = nlohmann::ordered_json;

std::string unit_of(const std::vector<std::string>& metric) {
  return metric.empty() ? "" : reports::metric_info(metric.front()).unit;
}

std::string fill(std::string_view text, const CaseShare& share) {
  const std::string unit = unit_of(share.condition->metric);
  const auto number = [&](const std::optional<double>& value) {
    return value ? reports::human(*value, unit) : std::string("—");
  };
  const auto word = [&](std::string_view name) -> std::optional<std::string> {
    const Quantities& q = share.quantities;
    if (name == "value") return number(q.value);
    if (name == "reference") return number(q.reference);
    if (name == "limit") return number(q.limit);
    if (name == "ratio") return q.ratio ? reports::ratio_text(*q.ratio) : "—";
    if (name == "case") return share.outcome->plan.id;
    if (name == "unit") return unit;
    return std::nullopt;
  };
  std::string filled;
  constexpr std::size_t kLongestWord = 16;  // of a placeholder, braces included: a lone brace must not cost a search
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const std::size_t close = text.substr(0, kLongestWord).find('}');
    const std::optional<std::string> value =
        close == std::string_view::npos ? std::nullopt : word(text.substr(1, close - 1));
    filled += value ? *value : "{";
    text.remove_prefix(value ? close + 1 : 1);
  }
  return filled;
}

std::string reason_text(const CaseShare& share) {
  return share.loss == Loss::case_end ? share.text : fill(share.text, share);
}

namespace {

const char* doing(Phase phase) {
  switch (phase) {
    case Phase::load:
      return "while the submission was loaded";
    case Phase::init:
      return "while the submission was set up";
    case Phase::call:
      return "during the call";
    default:
      return "after the call, while the submission was taken down";
  }
}

// The likely cause of a call that did not come back, and what to try.
struct Advice {
  std::string cause, next;
};
// By what lab::compare() and the gate say of a result.
Advice advice_on_values(const std::string& code) {
  if (code == "wrong-shape")
    return {"a dimension is missing, or dimensions are in another order",
            "print the sizes of the result and of each operand on the way to it"};
  if (code == "wrong-dtype")
    return {"an operand has another element type, and the result took it over",
            "print the dtype of each operand; convert with to(dtype) where it changes"};
  if (code == "not-finite")
    return {"a division by zero, a logarithm of zero, or memory that nothing has written",
            "find the first step whose result is not finite; look at tensors made with empty()"};
  if (code == "missing-output" || code == "no-result")
    return {"the tensor that came back was never given a value", "return the tensor that you computed"};
  if (code == "card-idle" || code == "card-unused" || code == "card-unfed" || code == "result-not-fetched")
    return {"the work was not done by the card, or not on the job's data",
            "move every operand to `device`, compute there, and return what you fetch from there"};
  return {"the values that came back are not those of the lab's definition", "compare one small case by hand"};
}

bool has_advice(const std::string& code) { return advice_on_values(code).cause != advice_on_values("").cause; }

Advice advice(const CaseOutcome& outcome) {
  switch (outcome.status) {
    case Status::crashed:
      if (outcome.reason && outcome.reason->code == "aborted")
        return {"a call of abort(), a failed assert, or an exception that left a destructor or a noexcept function",
                "look at what was printed last; `labrig check . --debug` in a debugger shows who aborts"};
      if (outcome.reason && outcome.reason->code != "crashed")
        return {outcome.reason->why.empty() ? "the call threw an exception that nobody caught" : outcome.reason->why,
                outcome.reason->fix.empty() ? "do what the message says, then check again" : outcome.reason->fix};
      return {"memory that is not the program's",
              "run `labrig check . --debug` in a debugger and look at the line where it stops"};
    case Status::timed_out:
      return {"a loop that does not end, or host work that grows much faster than the input",
              "look for the loop that never leaves, then for work that a card operator would do at once"};
    case Status::out_of_memory:
      return {"more is held at one time than the machine has", "release tensors before you make the next ones"};
    case Status::stopped_early:
      return {"the program ended itself before the call returned",
              "take out exit(), abort() and whatever else ends the process"};
    case Status::over_limit:
      return {"the program used more of something than the lab allows", "the reason names the limit: stay below it"};
    default:
      return advice_on_values(outcome.reason ? outcome.reason->code : "");
  }
}

std::string evidence(const CaseShare& share) {
  const Quantities& q = share.quantities;
  const std::string unit = unit_of(share.condition->metric);
  if (!q.value) return share.text;
  std::string names;
  for (const std::string& name : share.condition->metric)
    names += (names.empty() ? "" : " + ") + reports::metric_info(name).label;
  std::string text = names + ": " + reports::human(*q.value, unit);
  if (q.limit) text += ", at most " + reports::human(*q.limit, unit);
  if (q.reference) text += ", the reference has " + reports::human(*q.reference, unit);
  if (q.ratio && *q.value >= 0) text += " (" + reports::ratio_text(*q.ratio) + ")";
  return text;
}

// How often a call ends like this, and what the error itself counts: an error's why is its cause (advice()), but that
// of missing memory is figures.
std::string evidence_of_end(const CheckResult& result, const CaseShare& share) {
  const auto alike = std::count_if(result.cases.begin(), result.cases.end(),
                                   [&](const CaseShare& other) { return other.code == share.code; });
  const std::string count = fmt::format("cases that end like this: {} of {}", alike, result.cases.size());
  const bool figures = share.outcome->status == Status::out_of_memory && !share.outcome->reason->why.empty();
  return figures ? fmt::format("{}; {}", share.outcome->reason->why, count) : count;
}

// What the wrong values of the case have in common, of the first comparison where that is clear.
std::string pattern_text(const CaseOutcome& outcome) {
  for (const Json& mismatch : outcome.mismatches)
    if (!mismatch.at("pattern").is_null()) return mismatch.at("pattern_text").get<std::string>();
  return "";
}

// Lost by the student's doing, and by the check's own rule or by a call that did not come back: something to act on.
bool is_root(const CheckResult& result) {
  if (result.status != CheckStatus::failed && result.status != CheckStatus::partial) return false;
  return result.cases[*result.deciding].loss != Loss::gate;
}
bool has_lost(const CheckResult& result) {
  return result.status == CheckStatus::failed || result.status == CheckStatus::partial;
}

bool never_came_back(const CheckResult& result) { return result.cases[*result.deciding].loss == Loss::case_end; }

// The earliest task in which points were lost; in it the first root, in the order in which the lab lists its checks.
const CheckResult* first_to_mend(std::span<const CheckResult> results) {
  const auto before = [](const CheckResult& a, const CheckResult& b) {
    if (a.spec->task != b.spec->task) return a.spec->task < b.spec->task;
    return is_root(a) && !is_root(b);
  };
  const CheckResult* first = nullptr;
  for (const CheckResult& result : results)
    if (has_lost(result) && (first == nullptr || before(result, *first))) first = &result;
  return first;
}

// What a call that did not count came to: "a call ended with an error (shape-mismatch)".
std::string end_in_words(const CaseShare& share) {
  const auto say = [&](const char* words) { return fmt::format("{} ({})", words, share.code); };
  switch (share.outcome->status) {
    case Status::crashed:
      return share.code == "crashed" ? "a call crashed" : say("a call ended with an error");
    case Status::timed_out:
      return "a call did not finish in time";
    case Status::out_of_memory:
      return say("a call ran out of memory");
    case Status::stopped_early:
      return say("the program ended itself");
    case Status::over_limit:
      return say("a call went over a limit");
    default:
      return say("a result is wrong");
  }
}

}  // namespace

Json explain(const spec::LabSpec& spec, const CheckResult& result) {
  if (!has_lost(result)) return nullptr;
  const spec::CheckSpec& check = *result.spec;
  const CaseShare& share = result.cases[*result.deciding];
  const std::string where = share.outcome->plan.id + ", " + doing(share.outcome->phase);
  const std::string what = reason_text(share);
  if (share.loss == Loss::gate) {
    const spec::CheckSpec& needed = *spec.check(share.needed);
    return {{"what", what},
            {"where", share.outcome->plan.id},
            {"cause", fmt::format("this check counts only where \"{}\" holds", needed.title_passed)},
            {"next", fmt::format("mend \"{}\" first", needed.title_failed)},
            {"evidence", needed.title_failed}};
  }
  if (share.loss == Loss::case_end) {
    const Advice tip = advice(*share.outcome);
    return {{"what", what},
            {"where", where},
            {"cause", tip.cause},
            {"next", tip.next},
            {"evidence", evidence_of_end(result, share)}};
  }
  const std::string first_hint = check.hints.empty() ? "" : check.hints.front();
  Json json = {{"what", what}, {"where", share.outcome->plan.id}, {"cause", ""}, {"next", first_hint}};
  if (check.explain) {
    json["what"] = fill(check.explain->what, share);
    json["cause"] = fill(check.explain->cause, share);
    json["next"] = fill(check.explain->next, share);
  }
  const auto own = check.causes.find(share.code);
  if (own != check.causes.end()) {
    json["cause"] = fill(own->second.cause, share);
    json["next"] = fill(own->second.next, share);
  }
  // The lab's words are about values; a result of another shape, type or kind asks for other ones.
  if (own == check.causes.end() && share.condition->rule == spec::Rule::values && has_advice(share.code)) {
    const Advice tip = advice_on_values(share.code);
    json["cause"] = tip.cause;
    json["next"] = tip.next;
  }
  json["evidence"] = fill(evidence(share), share);
  if (share.condition->rule == spec::Rule::values)
    if (const std::string pattern = pattern_text(*share.outcome); !pattern.empty())
      json["evidence"] = fmt::format("{}. {}", json["evidence"].get<std::string>(), pattern);
  return json;
}

Json next_step(const spec::LabSpec& spec, std::span<const CheckResult> results) {
  const CheckResult* first = first_to_mend(results);
  if (first == nullptr) return nullptr;
  const CaseShare& share = first->cases[*first->deciding];
  const spec::CheckSpec& check = *first->spec;
  const std::string next = explain(spec, *first).at("next");
  // A debugger shows where a crash is; nothing else that labrig prints does.
  const bool debugger = share.loss == Loss::case_end && share.outcome->status == Status::crashed &&
                        (share.code == "crashed" || share.code == "aborted");
  return {{"check", check.id},
          {"text", next.empty() ? check.title_failed : next},
          {"command", fmt::format("labrig check . --task {}{}", check.task, debugger ? " --debug" : "")}};
}

namespace {

// A lab may have no check of order, and a race is worth knowing of all the same.
std::string hazards_in_words(std::span<const CheckResult> results) {
  std::set<const CaseOutcome*> with_hazard;
  for (const CheckResult& result : results)
    for (const CaseShare& share : result.cases)
      if (share.outcome->status == Status::hazard || !share.outcome->hazards.empty()) with_hazard.insert(share.outcome);
  if (with_hazard.empty()) return "";
  return fmt::format(" {} of the cases {} a hazard: see there.", with_hazard.size(),
                     with_hazard.size() == 1 ? "has" : "have");
}

}  // namespace

std::string verdict_sentence(const spec::LabSpec& spec, std::span<const CheckResult> results, double score,
                             double max_score, bool passed) {
  const auto count = [&](CheckStatus status) {
    return std::count_if(results.begin(), results.end(), [&](const CheckResult& r) { return r.status == status; });
  };
  if (const auto faults = count(CheckStatus::fault); faults > 0)
    return fmt::format("Not graded: labrig or the lab failed in {} of {} checks; this is not the submission's doing.",
                       faults, results.size());
  const auto right = count(CheckStatus::passed);
  const auto all = static_cast<std::ptrdiff_t>(results.size()) - count(CheckStatus::skipped);
  const std::string points =
      fmt::format("{} of {} points", reports::points_text(score), reports::points_text(max_score));
  if (all == 0) return "Nothing was checked.";
  const std::string hazards = hazards_in_words(results);
  if (right == all) return fmt::format("Passed with {}: every check passed.{}", points, hazards);
  const CheckResult* first = first_to_mend(results);
  const std::string title =
      never_came_back(*first) ? end_in_words(first->cases[*first->deciding]) : first->spec->title_failed;
  return fmt::format("{} with {}: {} of {} checks passed; mend first: {}.{}",
                     passed ? "Passed" : fmt::format("Below the pass mark of {}", reports::points_text(spec.pass_mark)),
                     points, right, all, title.ends_with('.') ? title.substr(0, title.size() - 1) : title, hazards);
}

}  // namespace labrig::grade
