#include "triage/shortage_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace labrig::triage {

void complete(Shortage& s) {
  if (!s.reserved && s.allocated && s.other_allocations) s.reserved = sum(*s.allocated, *s.other_allocations);
  if (!s.reserved && s.allocated && s.unallocated) s.reserved = sum(*s.allocated, *s.unallocated);
  if (!s.unallocated && s.reserved && s.allocated) {
    s.unallocated = difference(*s.reserved, *s.allocated);
    // Two decimals of larger numbers: what is below zero is zero.
    if (s.unallocated->bytes < 0) s.unallocated = exactly(0);
  }
  if (!s.allocated && s.reserved && s.unallocated) s.allocated = difference(*s.reserved, *s.unallocated);
}

Figures::Figures(Shortage facts) : s(std::move(facts)) {
  complete(s);
  if (s.total)
    unit = s.total->unit;
  else if (s.reserved)
    unit = s.reserved->unit;
  if (s.total && s.free && s.reserved) outside = s.total->bytes - s.free->bytes - s.reserved->bytes;
  if (s.other_allocations) outside = s.other_allocations->bytes;
  find_ourselves();
  find_contradictions();
  if (outside && *outside < 0) outside.reset();
  if (s.this_process && s.reserved) own_outside = std::max(0.0, s.this_process->bytes - s.reserved->bytes);
  if (s.this_process && s.total && s.free)
    others = std::max(0.0, s.total->bytes - s.free->bytes - s.this_process->bytes);
  else if (outside)
    others = outside;
}

// In a container a process sees itself listed under its number on the host. Then the listed memory and ours together
// exceed what is taken.
void Figures::find_ourselves() {
  if (s.this_process || !s.reserved || !s.total || !s.free) return;
  double listed = 0, slack = s.total->slack_bytes + s.free->slack_bytes + s.reserved->slack_bytes;
  for (const ListedProcess& process : s.processes) {
    if (!process.bytes) continue;
    listed += process.bytes->bytes, slack += process.bytes->slack_bytes;
  }
  const double taken = s.total->bytes - s.free->bytes;
  if (listed == 0 || listed + s.reserved->bytes <= taken + slack) return;
  const ListedProcess* ours = nullptr;  // it holds what we hold, and as little else as possible
  for (const ListedProcess& process : s.processes) {
    if (!process.bytes || process.bytes->bytes + slack < s.reserved->bytes) continue;
    if (!ours || process.bytes->bytes < ours->bytes->bytes) ours = &process;
  }
  if (!ours) return;
  our_pid = ours->pid;
  s.this_process = ours->bytes;
}

void Figures::find_contradictions() {
  if (s.total && s.free && s.free->bytes > s.total->bytes + s.total->slack_bytes)
    contradictions.push_back(fmt::format("more is free ({}) than the card has ({})", s.free->text, s.total->text));
  if (s.total && s.reserved && s.reserved->bytes > s.total->bytes + s.total->slack_bytes + s.reserved->slack_bytes) {
    contradictions.push_back(fmt::format(
        "PyTorch holds {}, which is {} more than the card has: the driver has moved memory to the host (shared GPU "
        "memory of Windows, unified memory)",
        s.reserved->text, in(s.reserved->bytes - s.total->bytes)));
  } else if (outside && *outside < -(s.total->slack_bytes + s.free->slack_bytes + s.reserved->slack_bytes)) {
    contradictions.push_back(fmt::format(
        "free and reserved together are {}, more than the card's {}: they were not read at the same moment, or not of "
        "the same memory",
        in(s.free->bytes + s.reserved->bytes), s.total->text));
  }
}

}  // namespace labrig::triage
