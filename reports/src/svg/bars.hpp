// Two small pictures: the score against the pass mark, and a ratio on the bands that give its points.
#pragma once

#include <optional>
#include <string>

namespace labrig::reports::svg {

// `score` and `pass_mark` as fractions of the maximum; without a pass mark no line is drawn. `id` is unique on the
// page.
std::string score_bar(double score, bool passed, std::optional<double> pass_mark, const std::string& id);
// Where a ratio lies on the bands of a ratio rule: full share up to 1.15, 75 % up to 1.5, …, nothing beyond 5.
std::string ratio_bands(double ratio, const std::string& id);

}  // namespace labrig::reports::svg
