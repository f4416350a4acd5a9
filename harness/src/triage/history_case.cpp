#include "triage/history_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "triage/series.hpp"

namespace labrig::triage {

namespace {

constexpr std::int64_t kWarmUp = 3;  // steps in which an optimizer and a cache find their size

// Two training rows at least ten steps apart, after the warm-up, without a step back, and rising more than once: one
// rise is something that was made and stays, not a leak.
std::optional<std::pair<std::size_t, std::size_t>> find_climb(const Case& c) {
  std::vector<std::size_t> rows;
  for (const std::size_t row : c.train)
    if (c.history.rows[row].step >= kWarmUp) rows.push_back(row);
  if (rows.size() < 3 || c.history.rows[rows.back()].step - c.history.rows[rows.front()].step < kStepsApart)
    return std::nullopt;
  std::vector<double> values;
  int rises_seen = 0;
  bool falls = false;
  for (const std::size_t row : rows) {
    const double value = as_double(c.history.rows[row].allocated_bytes);
    rises_seen += !values.empty() && value > values.back();
    falls = falls || (!values.empty() && value < 0.99 * values.back());
    values.push_back(value);
  }
  if ((falls && !rises(values)) || rises_seen < 2 || values.back() <= values.front()) return std::nullopt;
  return std::pair{rows.front(), rows.back()};
}

std::map<std::string, double> find_growth(const MemoryHistory& history) {
  std::set<std::int64_t> lists;
  for (const HistoryOwner& owner : history.owners) lists.insert(owner.row);
  std::map<std::string, double> grown;
  if (lists.size() < 2) return grown;
  // Of the first list the optimizer's state may be missing: only what operators made in a phase counts.
  for (const HistoryOwner& owner : history.owners) {
    const double bytes = as_double(owner.bytes);
    if (owner.row == *lists.rbegin()) grown[owner.op] += bytes;
    if (owner.row == *lists.begin()) grown[owner.op] -= bytes;
  }
  for (const char* lasting : {"model", "gradient", "optimizer"}) grown.erase(lasting);
  std::erase_if(grown, [](const auto& entry) { return entry.second <= 0; });
  return grown;
}

}  // namespace

Case::Case(const MemoryHistory& all) : history(all) {
  for (std::size_t row = 0; row < history.rows.size(); ++row) {
    if (history.rows[row].phase == "train") train.push_back(row);
    if (history.rows[row].phase == "eval") eval.push_back(row);
  }
  climb = find_climb(*this);
  grown = find_growth(history);
}

double Case::others_bytes() const {
  if (!history.failure && history.rows.empty()) return 0;
  const double reserved =
      as_double(history.failure ? history.failure->reserved_bytes : history.rows.back().reserved_bytes);
  const double free = as_double(history.failure ? history.failure->free_bytes : history.rows.back().free_bytes);
  return std::max(0.0, as_double(history.card.total_bytes) - as_double(history.card.context_bytes) - reserved - free);
}

std::string Case::show(std::size_t row) const {
  const HistoryRow& r = history.rows[row];
  return fmt::format("row {} ({}, step {}): allocated {}, reserved {}, peak {}", row, r.phase, r.step,
                     mib(r.allocated_bytes), mib(r.reserved_bytes), mib(r.peak_allocated_bytes));
}

}  // namespace labrig::triage
