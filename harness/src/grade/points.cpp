#include "grade/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bands.hpp"

namespace labrig::grade {

using spec::CheckSpec;
using spec::Condition;
using spec::Rule;

double accuracy_share(double right) {
  struct Band {
    double edge, share;
  };
  for (const Band band : {Band{0.9, 1}, {0.8, 0.75}, {0.65, 0.5}, {0.5, 0.25}})
    if (right >= band.edge) return band.share;
  return 0;
}

double ratio_of(double submission, double reference, bool more_is_better) {
  const double above = more_is_better ? reference : submission;
  const double below = more_is_better ? submission : reference;
  if (above == 0 && below == 0) return 1;
  // Less than nothing where more is better has no finite ratio either.
  if (below == 0 || (more_is_better && below < 0)) return std::numeric_limits<double>::infinity();
  return above / below;
}

double round_points(double points) { return std::round(points * 10) / 10; }

const char* name_of(CheckStatus status) {
  constexpr const char* names[] = {"passed", "partial", "failed", "skipped", "fault"};
  return names[static_cast<std::size_t>(status)];
}

namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Of the reference's bytes, how many must cross the bus at least: a value may travel in half precision.
constexpr double kLeastBytes = 0.5;

// Why the card did not do the work that the reference gives it; nothing when it did, or when there is none to do. Work
// is arithmetic, fed with what the job's inputs have, whose result is fetched: one alone is easily pretended.
std::optional<Reason> idle_card(const CaseOutcome& outcome) {
  const auto done = [&](const char* name) { return outcome.quantity(name).value_or(0); };
  const auto expected = [&](const char* name) { return outcome.reference_quantity(name).value_or(0); };
  const std::string& id = outcome.plan.id;
  if (const double flops = expected("device_flops"); done("device_flops") < 0.9 * flops) {
    if (done("h2d_copies") == 0 && done("launches") == 0)
      return Reason{"card-idle", fmt::format("nothing reached the card in {}: the work was done on the host", id)};
    return Reason{"card-unused", fmt::format("the card did {:.0f} % of the reference's arithmetic in {}; "
                                             "the rest was done on the host or left out",
                                             100 * done("device_flops") / flops, id)};
  }
  if (const double bytes = expected("h2d_bytes"); done("h2d_bytes") < kLeastBytes * bytes)
    return Reason{"card-unfed", fmt::format("the card got {:.0f} of the {:.0f} bytes that the job's inputs have in {}: "
                                            "what it computed is not the result",
                                            done("h2d_bytes"), bytes, id)};
  if (const double bytes = expected("d2h_bytes"); done("d2h_bytes") < kLeastBytes * bytes)
    return Reason{"result-not-fetched", fmt::format("{:.0f} of the {:.0f} bytes of the result came back from the card "
                                                    "in {}: what was returned was not computed there",
                                                    done("d2h_bytes"), bytes, id)};
  return std::nullopt;
}

class Evaluator {
 public:
  Evaluator(const spec::LabSpec& spec, std::span<const CaseOutcome> cases) : spec_(spec), cases_(cases) {}

  CheckResult check(const CheckSpec& check) const {
    CheckResult result;
    result.spec = &check;
    for (const CaseOutcome& outcome : cases_)
      if (contains(check.kinds, outcome.plan.kind)) result.cases.push_back(share_of(check, outcome));
    decide(result);
    return result;
  }

 private:
  CaseShare share_of(const CheckSpec& check, const CaseOutcome& outcome) const {
    CaseShare share;
    share.outcome = &outcome;
    share.condition = &check;
    const Reason end = outcome.reason.value_or(Reason{name_of(outcome.status), ""});
    if (outcome.status == Status::fault) return lose(share, Loss::fault, end.code, end.text);
    if (outcome.status == Status::not_run) return lose(share, Loss::skipped, end.code, end.text);
    if (!returned(outcome.status)) return lose(share, Loss::case_end, end.code, end.text);
    if (check.rule != Rule::values)
      if (std::optional<CaseShare> closed = gate(check, outcome, share)) return *closed;
    apply_rule(check, outcome, share);
    for (const Condition& further : check.also) {
      CaseShare other;
      other.outcome = &outcome;
      other.condition = &further;
      apply_rule(further, outcome, other);
      if (share.loss != Loss::fault && (other.loss == Loss::fault || other.share < share.share)) share = other;
    }
    return share;
  }

  // What keeps the case from counting for this check, if anything does.
  std::optional<CaseShare> gate(const CheckSpec& check, const CaseOutcome& outcome, CaseShare share) const {
    std::vector<std::string> needs;
    if (check.needs) {
      needs = *check.needs;
    } else if (const CheckSpec* values = values_check(outcome.plan.kind)) {
      needs = {values->id};
    } else {
      return no_values_check(outcome, share);
    }
    for (const std::string& need : needs) {
      const CheckSpec& needed = *spec_.check(need);
      if (!contains(needed.kinds, outcome.plan.kind)) continue;
      const CaseShare there = share_of(needed, outcome);
      if (there.share > 0) continue;
      share.needed = need;
      if (there.loss == Loss::fault) return lose(share, Loss::fault, there.code, there.text);
      return lose(share, Loss::gate, "needs:" + need,
                  fmt::format("not counted in {}: it needs a check that failed there (\"{}\")", outcome.plan.id,
                              needed.title_failed));
    }
    return std::nullopt;
  }

  // The gate of a kind whose values no check looks at.
  std::optional<CaseShare> no_values_check(const CaseOutcome& outcome, CaseShare share) const {
    if (outcome.status == Status::wrong_values) {
      const Reason wrong = outcome.reason.value_or(Reason{"wrong-values", ""});
      return lose(share, Loss::case_end, wrong.code, wrong.text);
    }
    if (const std::optional<Reason> idle = idle_card(outcome))
      return lose(share, Loss::case_end, idle->code, idle->text);
    return std::nullopt;
  }

  const CheckSpec* values_check(const std::string& kind) const {
    for (const CheckSpec& check : spec_.checks)
      if (check.rule == Rule::values && contains(check.kinds, kind)) return &check;
    return nullptr;
  }

  static void apply_rule(const Condition& condition, const CaseOutcome& outcome, CaseShare& share) {
    switch (condition.rule) {
      case Rule::values:
        return values_rule(condition, outcome, share);
      case Rule::ordered:
        return ordered_rule(condition, outcome, share);
      case Rule::finding:
        return finding_rule(condition, outcome, share);
      default:
        return metric_rule(condition, outcome, share);
    }
  }

  static void values_rule(const Condition& condition, const CaseOutcome& outcome, CaseShare& share) {
    share.share = 1;
    if (outcome.status == Status::wrong_values) {
      const Reason wrong = outcome.reason.value_or(Reason{});
      share = lose(share, Loss::rule, wrong.code.empty() ? condition.code : wrong.code,
                   wrong.text.empty() ? condition.text : wrong.text);
    } else if (const std::optional<Reason> idle = idle_card(outcome)) {
      share = lose(share, Loss::rule, idle->code, idle->text);
    }
  }

  // The gate has seen to the values of the eager run.
  static void ordered_rule(const Condition& condition, const CaseOutcome& outcome, CaseShare& share) {
    share.share = 1;
    if (outcome.status != Status::hazard) return;
    const Reason found = outcome.reason.value_or(Reason{});
    share = lose(share, Loss::rule, found.code.empty() ? condition.code : found.code,
                 found.text.empty() ? condition.text : found.text);
  }

  static void finding_rule(const Condition& condition, const CaseOutcome& outcome, CaseShare& share) {
    const auto found = outcome.findings.find(condition.finding);
    if (found == outcome.findings.end()) {
      // A judge that met wrong values may stop before it comes to its findings.
      if (outcome.status == Status::wrong_values) return values_rule(condition, outcome, share);
      share = lose(share, Loss::fault, "no-such-finding",
                   fmt::format("the lab's judge gave no finding '{}' in {}", condition.finding, outcome.plan.id));
      return;
    }
    const Finding& finding = found->second;
    take(share, std::clamp(finding.share, 0.0, 1.0), finding.code.empty() ? condition.code : finding.code,
         finding.text.empty() ? condition.text : finding.text);
  }

  static void metric_rule(const Condition& condition, const CaseOutcome& outcome, CaseShare& share) {
    if (outcome.from_threads && is_time(condition)) {
      share = lose(share, Loss::rule, "driven-from-threads",
                   fmt::format("in {} the card was driven from threads of the submission's own: its time then depends "
                               "on which of them comes first, and is not compared",
                               outcome.plan.id));
      return;
    }
    double value = 0, reference = 0;
    bool has_reference = true;
    for (const std::string& name : condition.metric) {
      const std::optional<double> part = outcome.quantity(name);
      if (!part) {
        share = lose(share, Loss::fault, "no-such-metric",
                     fmt::format("neither the card nor the lab's judge gave '{}' in {}", name, outcome.plan.id));
        return;
      }
      value += *part;
      const std::optional<double> reference_part = outcome.reference_quantity(name);
      has_reference = has_reference && reference_part.has_value();
      reference += reference_part.value_or(0);
    }
    share.quantities.value = value;
    if (has_reference) share.quantities.reference = reference;
    if ((condition.rule == Rule::ratio || condition.reference_times) && !has_reference) {
      share = lose(share, Loss::fault, "no-reference",
                   fmt::format("there are no reference figures for {}", outcome.plan.id));
      return;
    }
    if (!set_limit(condition, outcome, share.quantities)) {
      share = lose(share, Loss::fault, "no-such-parameter",
                   fmt::format("neither the scenario nor the lab's inputs give '{}' in {}", condition.limit_parameter,
                               outcome.plan.id));
      return;
    }
    const auto found = outcome.findings.find(condition.finding);
    const bool knows_why = found != outcome.findings.end() && !found->second.code.empty();
    take(share, share_of_value(condition, share.quantities), knows_why ? found->second.code : condition.code,
         knows_why ? found->second.text : condition.text);
  }

  // Of the card's clock: what depends on the order in which commands arrive.
  static bool is_time(const Condition& condition) {
    return std::any_of(condition.metric.begin(), condition.metric.end(),
                       [](const std::string& name) { return name.ends_with("_ps") || name.starts_with("overlap"); });
  }

  // False when the limit is a parameter that the case does not have.
  static bool set_limit(const Condition& condition, const CaseOutcome& outcome, Quantities& q) {
    q.limit = condition.limit;
    if (condition.reference_times) q.limit = *condition.reference_times * *q.reference + condition.plus;
    if (!condition.limit_parameter.empty()) q.limit = outcome.parameter(condition.limit_parameter);
    return condition.limit_parameter.empty() || q.limit.has_value();
  }

  static double share_of_value(const Condition& condition, Quantities& q) {
    if (condition.rule == Rule::ratio) {
      q.ratio = ratio_of(*q.value, *q.reference, condition.more_is_better);
      return reports::ratio_share(*q.ratio);
    }
    if (condition.rule == Rule::accuracy) return accuracy_share(*q.value);
    if (condition.rule == Rule::equals) return *q.value == *q.limit ? 1 : 0;
    // 1.1 x 30 must not refuse 33.
    return *q.value <= *q.limit + 1e-9 * std::abs(*q.limit) ? 1 : 0;
  }

  static void take(CaseShare& share, double value, const std::string& code, const std::string& text) {
    share.share = value;
    if (value >= 1) return;
    share.loss = Loss::rule;
    share.code = code;
    share.text = text;
  }

  static CaseShare lose(CaseShare share, Loss loss, const std::string& code, const std::string& text) {
    share.share = 0;
    share.loss = loss;
    share.code = code;
    share.text = text;
    return share;
  }

  static void decide(CheckResult& result) {
    double sum = 0, lowest = std::numeric_limits<double>::infinity();
    int counted = 0;
    for (std::size_t i = 0; i < result.cases.size(); ++i) {
      const CaseShare& share = result.cases[i];
      if (share.loss == Loss::fault) {
        result.status = CheckStatus::fault;
        result.deciding = i;
        return;
      }
      if (share.loss == Loss::skipped) continue;
      ++counted;
      sum += share.share;
      if (share.share >= lowest) continue;
      lowest = share.share;
      result.deciding = i;
    }
    if (counted == 0) {
      if (!result.cases.empty()) result.deciding = 0;
      return;
    }
    result.share = result.spec->combine == spec::Combine::worst ? lowest : sum / counted;
    result.points = round_points(result.share * result.spec->points);
    result.status = result.share >= 1  ? CheckStatus::passed
                    : result.share > 0 ? CheckStatus::partial
                                       : CheckStatus::failed;
  }

  const spec::LabSpec& spec_;
  std::span<const CaseOutcome> cases_;
};

}  // namespace

std::vector<CheckResult> evaluate(const spec::LabSpec& spec, std::span<const CaseOutcome> cases) {
  const Evaluator evaluator(spec, cases);
  std::vector<CheckResult> results;
  for (const CheckSpec& check : spec.checks) results.push_back(evaluator.check(check));
  return results;
}

}  // namespace labrig::grade
