// A recorded history with what its rules ask for: the rows of each phase, the climb, and what has grown. The rules that
// decide by it: history_rules.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labrig/history.hpp"
#include "triage/amount.hpp"

namespace labrig::triage {

inline constexpr std::int64_t kStepsApart = 10;  // of two rows that show a leak

inline double as_double(std::size_t bytes) { return static_cast<double>(bytes); }
inline std::string mib(double bytes) { return size_in(bytes, "MiB"); }
inline std::string mib(std::size_t bytes) { return mib(as_double(bytes)); }

struct Case {
  explicit Case(const MemoryHistory& history);

  // Of the card, held by neither this process nor anybody's free memory, at the failure or at the last row.
  double others_bytes() const;
  double unallocated_bytes() const {
    return history.failure->reserved_bytes > history.failure->allocated_bytes
               ? as_double(history.failure->reserved_bytes - history.failure->allocated_bytes)
               : 0;
  }
  std::vector<double> values(const std::vector<std::size_t>& rows, std::size_t HistoryRow::* what) const {
    std::vector<double> result;
    for (const std::size_t row : rows) result.push_back(as_double(history.rows[row].*what));
    return result;
  }
  std::string show(std::size_t row) const;  // as a line of evidence

  // Evidence names the failure by the number behind the last row's.
  std::int64_t failure_row() const { return static_cast<std::int64_t>(history.rows.size()); }

  const MemoryHistory& history;
  std::vector<std::size_t> train, eval;                      // rows of these phases
  std::optional<std::pair<std::size_t, std::size_t>> climb;  // two training rows between which allocated only rises
  std::map<std::string, double> grown;  // bytes by operator, from an early to the last list of owners
};

}  // namespace labrig::triage
