// What changed between two reports of one lab: the checks that were mended or broken, and the figures of cases that
// both have.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "model.hpp"

namespace labrig::reports {

// "fixed", "new failure", "still failing", "better", "worse"; empty where nothing changed that a reader should know.
// `before`: the same check of the earlier report; null when it had none.
std::string change_of(const Check* before, const Check& now);

// A view for the template, false without an earlier report: one sentence, the checks that changed with their points,
// and the metrics of the cases that differ. Reports of another lab or version are not compared, and the sentence says
// so.
nlohmann::json history_view(const std::optional<Report>& before, const Report& now);

const Check* find_check(const Report& report, std::string_view id);

}  // namespace labrig::reports
