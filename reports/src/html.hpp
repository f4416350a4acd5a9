// The parts of the page, as views for the templates. Each function is one template's data; every key of a template is
// set in each view, because a missing one would be looked up in the view around it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "model.hpp"
#include "render.hpp"

namespace labrig::reports {

// Checks in the order of reading: lost ones first, those lost for the same reason under the first of them.
// `before`: an earlier report, to say of each what became of it.
nlohmann::json check_groups(const Report& report, const std::optional<Report>& before, const HtmlOptions& options);

// `open_case` is the id of the one case that is unfolded.
nlohmann::json case_views(const Report& report, std::string_view open_case);

// The picture next to a status: passed, failed, partial, skipped, fault.
std::string_view icon_of(std::string_view status);

}  // namespace labrig::reports
