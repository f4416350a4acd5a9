// The points rule (docs/architecture.md §6 and §9): from what became of the cases to the share and points of each
// check. Pure: nothing here looks at a clock, a file or a path. Read next: grade.hpp, which turns the result into a
// report.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grade/outcome.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::grade {

// 1 from 90 %, 0.75 from 80, 0.5 from 65, 0.25 from 50, else 0.
double accuracy_share(double right);
// Submission / reference, or the inverse where more is better: above 1 is worse. Both 0: 1. Nothing to divide by:
// infinity.
double ratio_of(double submission, double reference, bool more_is_better);
// To 0.1.
double round_points(double points);

// What a rule looked at in one case; absent where the rule has no such thing.
struct Quantities {
  std::optional<double> value, reference, limit, ratio;  // ratio may be infinite
};

// Why a case gives a check less than its full share.
enum class Loss : std::uint8_t {
  none,
  rule,      // the rule of the check
  gate,      // a check that this one needs failed in the case
  case_end,  // the call did not come back
  skipped,   // the case was not run
  fault,     // ours
};

struct CaseShare {
  const CaseOutcome* outcome = nullptr;
  const spec::Condition* condition = nullptr;  // the one that decided
  double share = 0;
  Loss loss = Loss::none;
  std::string code, text;  // of the loss; the text still has its placeholders where it is the check's own
  std::string needed;      // with Loss::gate: the check that failed
  Quantities quantities;
};

enum class CheckStatus : std::uint8_t { passed, partial, failed, skipped, fault };
const char* name_of(CheckStatus status);

struct CheckResult {
  const spec::CheckSpec* spec = nullptr;
  CheckStatus status = CheckStatus::skipped;
  double share = 0, points = 0;
  std::vector<CaseShare> cases;
  std::optional<std::size_t> deciding;  // index in `cases`: the lowest share, the first on ties

  double lost() const { return spec->points - points; }
};

// One result a check, in the order of lab.toml. `cases` must outlive the results.
std::vector<CheckResult> evaluate(const spec::LabSpec& spec, std::span<const CaseOutcome> cases);

}  // namespace labrig::grade
