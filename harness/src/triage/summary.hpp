// torch.cuda.memory_summary() as a text, whatever has become of it: rules glued to the title, bars or line breaks lost,
// units of older releases (MB, GB), rows missing. And memory_stats() as JSON, which holds the same figures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "labrig/triage.hpp"
#include "triage/amount.hpp"

namespace labrig::triage {

struct SummaryRow {
  std::optional<Amount> current, peak, allocated, freed;  // of counts, the bytes are the count
};

struct Summary {
  std::optional<int> device;
  std::optional<std::int64_t> ooms, retries;
  std::map<std::string, SummaryRow> rows;  // by the name of the block: "allocated memory"; pools are left out
  bool cut = false;                        // the last row that there is has not all its figures

  bool empty() const { return rows.empty() && !ooms && !retries; }
  const SummaryRow* row(const char* name) const {
    const auto found = rows.find(name);
    return found == rows.end() ? nullptr : &found->second;
  }
};

Summary read_summary(std::string_view text);
Diagnosis diagnose(const Summary& summary);

}  // namespace labrig::triage
