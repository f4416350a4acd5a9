// A case on a card runs twice: `eager`, with effects carried out at once, which gives values and metrics, and `late`,
// with effects as late as the program's own order allows, which gives the ordering. Here the two become one outcome.
// Pure.
#pragma once

#include <optional>

#include "grade/outcome.hpp"

namespace labrig::supervisor {

// Whether a late run can say more: not on the host, not without data, and not after a call that did not come back or
// whose values are wrong already; the hazards of the eager run's ledger are enough there.
bool wants_late_run(const grade::CaseOutcome& eager);

// The eager outcome with what is known about its order. Without `late`: as wants_late_run says.
//   hazards                          status `hazard`, reason of the first group; whether or not a value came out wrong
//   no hazard, but late went wrong   status `hazard`: the host looked where no operator and no accessor announces it
//   no hazard, other metrics         status `hazard`: the submission did something else the second time (that
//                                    the card counts alike in both modes is tested); both figures are in the reason
// Values, figures and metrics stay those of the eager run, but for the metric `hazards`.
grade::CaseOutcome with_order(grade::CaseOutcome eager, const std::optional<grade::CaseOutcome>& late);

}  // namespace labrig::supervisor
