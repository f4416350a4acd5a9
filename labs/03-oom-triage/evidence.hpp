// What the named rows of a history must show, for each cause: the judge's side of "evidence". The handout has the same
// table in words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "labrig/history.hpp"

namespace oom_triage {

class Evidence {
 public:
  // Whoever names everything shows nothing: the first four count. Numbers outside the history are left out.
  static constexpr std::size_t kMostRows = 4;
  Evidence(const labrig::MemoryHistory& history, const std::vector<std::int64_t>& rows) : history_(history) {
    const auto count = static_cast<std::int64_t>(history.rows.size());
    const std::vector<std::int64_t> first(rows.begin(),
                                          rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kMostRows)));
    for (const std::int64_t row : std::set<std::int64_t>(first.begin(), first.end())) {
      if (row == count && history.failure) failure_ = true;
      if (row >= 0 && row < count) rows_.push_back(row);
    }
  }

  bool shows(labrig::MemoryCause cause) const {
    switch (cause) {
      case labrig::MemoryCause::healthy:
        return ten_steps_apart([](double before, double after) { return after <= 1.02 * before; });
      case labrig::MemoryCause::losses_keep_graph:
      case labrig::MemoryCause::outputs_kept:
        return climbs();
      case labrig::MemoryCause::eval_without_no_grad:
        return evaluation_holds_more();
      case labrig::MemoryCause::other_process:
        return somebody_else_holds();
      case labrig::MemoryCause::fragmentation:
        return failure_ && unused() >= failure().requested_bytes &&
               failure().requested_bytes > failure().largest_free_block_bytes;
      case labrig::MemoryCause::batch_too_big:
        return failure_ && unused() + failure().free_bytes < 2 * failure().requested_bytes;
      case labrig::MemoryCause::operator_spike:
        return failure_ && failure().requested_bytes > ordinary_bytes();
      case labrig::MemoryCause::resume_loads_state:
        return checkpoint_is_held();
    }
    return false;
  }

 private:
  const labrig::HistoryRow& row(std::int64_t number) const { return history_.rows[static_cast<std::size_t>(number)]; }
  const labrig::HistoryFailure& failure() const { return *history_.failure; }
  // In the cache, in pieces.
  std::size_t unused() const { return failure().reserved_bytes - failure().allocated_bytes; }

  // Two rows of one phase, and what is allocated there.
  template <class Holds>
  bool ten_steps_apart(Holds holds) const {
    for (const std::int64_t a : rows_)
      for (const std::int64_t b : rows_)
        if (row(a).phase == row(b).phase && row(b).step - row(a).step >= 10 &&
            holds(static_cast<double>(row(a).allocated_bytes), static_cast<double>(row(b).allocated_bytes)))
          return true;
    return false;
  }

  bool climbs() const {
    return ten_steps_apart([](double before, double after) { return after > 1.05 * before; });
  }

  double median_allocated(const std::string& phase, const std::vector<std::int64_t>& of) const {
    std::vector<std::size_t> values;
    for (const std::int64_t number : of)
      if (row(number).phase == phase) values.push_back(row(number).allocated_bytes);
    std::ranges::sort(values);
    return values.empty() ? 0 : static_cast<double>(values[values.size() / 2]);
  }

  bool evaluation_holds_more() const {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < history_.rows.size(); ++i) all.push_back(static_cast<std::int64_t>(i));
    const double named = median_allocated("eval", rows_);
    return named > 0 && named > 1.25 * median_allocated("train", all);
  }

  static bool is_missing(const labrig::HistoryCard& card, std::size_t free_bytes, std::size_t reserved_bytes) {
    return card.total_bytes - card.context_bytes > free_bytes + reserved_bytes + card.total_bytes / 10;
  }
  bool somebody_else_holds() const {
    return (failure_ && is_missing(history_.card, failure().free_bytes, failure().reserved_bytes)) ||
           std::ranges::any_of(rows_, [&](std::int64_t r) {
             return is_missing(history_.card, row(r).free_bytes, row(r).reserved_bytes);
           });
  }

  // What a step before the failing one held at most; without one, what the failing one held by then.
  std::size_t ordinary_bytes() const {
    std::size_t most =
        failure().allocated_bytes - std::min(failure().allocated_bytes, history_.rows.back().allocated_bytes);
    for (const labrig::HistoryRow& r : history_.rows)
      if (r.phase == "train") most = std::max(most, r.peak_allocated_bytes - r.allocated_bytes);
    return most;
  }

  // Named: a row at which blocks of the checkpoint were held that was read before it.
  bool checkpoint_is_held() const {
    return std::ranges::any_of(history_.owners, [&](const labrig::HistoryOwner& owner) {
      return owner.op == "checkpoint" && std::ranges::find(rows_, owner.row) != rows_.end() &&
             owner.bytes >= row(owner.row).allocated_bytes / 8;
    });
  }

  const labrig::MemoryHistory& history_;
  std::vector<std::int64_t> rows_;
  bool failure_ = false;
};

}  // namespace oom_triage
