// A memory history as lines of text, for the way from the judge to the submission:
//   card 268435456 4194304 | row 3 train 64 … | owner 12 linear train 4 … | failure 13 train relu …
#pragma once

#include <sstream>
#include <string>

#include "labrig/history.hpp"

namespace oom_triage {

inline std::string to_text(const labrig::MemoryHistory& history) {
  std::ostringstream out;
  const auto word = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
  out << "card " << history.card.total_bytes << ' ' << history.card.context_bytes << '\n';
  for (const labrig::HistoryRow& r : history.rows)
    out << "row " << r.step << ' ' << word(r.phase) << ' ' << r.batch << ' ' << r.allocated_bytes << ' '
        << r.reserved_bytes << ' ' << r.peak_allocated_bytes << ' ' << r.free_bytes << ' ' << r.largest_free_block_bytes
        << '\n';
  for (const labrig::HistoryOwner& o : history.owners)
    out << "owner " << o.row << ' ' << word(o.op) << ' ' << word(o.phase) << ' ' << o.blocks << ' ' << o.bytes << '\n';
  if (const auto& f = history.failure)
    out << "failure " << f->step << ' ' << word(f->phase) << ' ' << word(f->op) << ' ' << f->requested_bytes << ' '
        << f->segment_bytes << ' ' << f->allocated_bytes << ' ' << f->reserved_bytes << ' ' << f->free_bytes << ' '
        << f->largest_free_block_bytes << '\n';
  return out.str();
}

// Of a text that to_text() made.
inline labrig::MemoryHistory from_text(const std::string& text) {
  labrig::MemoryHistory history;
  std::istringstream in(text);
  for (std::string kind; in >> kind;) {
    if (kind == "card") {
      in >> history.card.total_bytes >> history.card.context_bytes;
    } else if (kind == "row") {
      labrig::HistoryRow& r = history.rows.emplace_back();
      in >> r.step >> r.phase >> r.batch >> r.allocated_bytes >> r.reserved_bytes >> r.peak_allocated_bytes >>
          r.free_bytes >> r.largest_free_block_bytes;
    } else if (kind == "owner") {
      labrig::HistoryOwner& o = history.owners.emplace_back();
      in >> o.row >> o.op >> o.phase >> o.blocks >> o.bytes;
    } else {
      labrig::HistoryFailure& f = history.failure.emplace();
      in >> f.step >> f.phase >> f.op >> f.requested_bytes >> f.segment_bytes >> f.allocated_bytes >>
          f.reserved_bytes >> f.free_bytes >> f.largest_free_block_bytes;
    }
  }
  return history;
}

}  // namespace oom_triage
