// How a kernel that finds an index outside its dimension stops the card: it leaves a note in host memory that says what
// it found, then traps. Only the first thread that finds one writes the note; the others skip their element. Read next:
// launch_log.hpp (the host's side).
#pragma once

#include "fault.hpp"

namespace labrig::cuda {

__device__ inline void stop_with(const FaultSite& site, int operand, std::int64_t position, std::int64_t value,
                                 std::int64_t lowest, std::int64_t size) {
  FaultNote& note = *site.note;
  if (atomicCAS(site.taken, 0U, 1U) != 0U) return;
  note.launch = site.launch;
  note.operand = operand;
  note.position = position;
  note.value = value;
  note.lowest = lowest;
  note.size = size;
  __threadfence_system();
  note.written = 1;
  __threadfence_system();
  __trap();
}

}  // namespace labrig::cuda
