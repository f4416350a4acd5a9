// What bounds a run: a verdict from the utilisation of the card's engines (field notes F2, F6, F56).
//
// Shares of the run's time: the busy engines from the card's own counts, the host's waits and work from the timeline.
// The first rule that fits decides.
//   1. An engine is busy for half of the time, or the engines together (each moment once) for three quarters of it: the
//      busiest engine bounds the run.
//        upload, download: the bus.
//        compute: the work of its kernels is the longer of (bytes / memory rate) and (flops / arithmetic rate). Work
//        below half of the engine's busy time: launches, of kernels too small to fill the card. Otherwise arithmetic or
//        device memory, whichever takes longer.
//   2. Otherwise the host keeps the card waiting:
//        Its own work (spans without a wait: reading, loading, pinning) is the largest share of its time: data.
//        It waits for the card (spans with a cause) a third of the time: syncs. Each wait empties the queue, which must
//        then be filled again while the engines stand.
//        Otherwise launches: it submits kernels and copies, and allocates.
//      Without a timeline these three cannot be told apart: host.
// The arithmetic rate is the card's f32 rate, or the matrix rate where the run was faster than f32 allows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model.hpp"

namespace labrig::reports {

enum class Bound { data, bus, syncs, launches, arithmetic, device_memory, host };
std::string_view name_of(Bound bound);  // "the bus"

// Shares of the run's time, 0 to 1.
struct Utilisation {
  double time_ps = 0;
  double compute = 0, up = 0, down = 0, overlap = 0;
  std::optional<double> waits, host_work;  // nothing: no timeline was kept
  double engines() const;                  // at least one engine was busy
};
// Nothing when the card did nothing, or its engines were not counted.
std::optional<Utilisation> utilisation_of(const Numbers& metrics, const Trace* trace);

struct Bottleneck {
  Bound bound = Bound::host;
  std::string sentence;  // the verdict and the figures that support it
};
std::optional<Bottleneck> bottleneck_of(const Numbers& metrics, const Trace* trace, const std::optional<Card>& card);

// What to do about it: less of what the run does more often than the reference, a rule of thumb where that has no
// figures, nothing where the run takes no longer.
std::string advice_for(Bound bound, const Numbers& yours, const Numbers& reference);

}  // namespace labrig::reports
