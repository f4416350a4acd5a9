// A page must open at once, whatever a submission prints or throws: texts that would fill it are cut shorter.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

namespace labrig::reports {

// Bytes of a text as it stands in the report.
struct TextLimits {
  std::size_t line;    // of a name, a reason, a hint
  std::size_t output;  // of what a submission printed in one case
};

// `report` with every longer text cut: of lines the beginning stays, of output the beginning and the end. Texts say how
// much is missing. No character is cut in two.
nlohmann::json with_short_texts(const nlohmann::json& report, const TextLimits& limits);

}  // namespace labrig::reports
