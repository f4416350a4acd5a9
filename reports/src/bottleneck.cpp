// The sentences say only what the figures show; what to do about it: bottleneck_advice.cpp.
#include "bottleneck.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "units.hpp"

namespace labrig::reports {
namespace {

constexpr double kBusyEngine = 0.5, kBusyEngines = 0.75, kRealWork = 0.5, kManyWaits = 1.0 / 3;

double value(const Numbers& metrics, std::string_view name) { return find(metrics, name).value_or(0); }
std::string percent_of(double share) { return fmt::format("{:.0f} %", share * 100); }

// Time covered by the host's spans, those with a wait or those without, each moment once.
double covered_ps(const Trace& trace, bool waits) {
  double sum = 0, until = 0;
  for (const Span& span : trace.timeline) {
    if (span.lane != "host" || span.sync.empty() == waits) continue;
    sum += std::max(0.0, span.end_ps - std::max(span.start_ps, until));
    until = std::max(until, span.end_ps);
  }
  return sum;
}

std::string counted(double count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

std::string waits_by_cause(const Numbers& metrics) {
  std::string out;
  for (const auto& [name, one, many] : {std::tuple{"syncs_value", "value read", "values read"},
                                        {"syncs_copy", "blocking copy", "blocking copies"},
                                        {"syncs_explicit", "synchronisation", "synchronisations"},
                                        {"syncs_implicit", "stop in the driver", "stops in the driver"}}) {
    const double count = value(metrics, name);
    if (count > 0) out += (out.empty() ? "" : ", ") + counted(count, one, many);
  }
  return out;
}

std::string busiest_of(const Utilisation& use) {
  return fmt::format("no engine was busy for more than {} of the time",
                     percent_of(std::max({use.compute, use.up, use.down})));
}

Bottleneck bus(const Utilisation& use) {
  const bool up = use.up >= use.down;
  return {
      Bound::bus,
      fmt::format("The bus bounds this run: the {} engine was busy for {} of the time, the compute engine for {}; a "
                  "copy and a kernel ran at once for {}.",
                  up ? "upload" : "download", percent_of(up ? use.up : use.down), percent_of(use.compute),
                  percent_of(use.overlap))};
}

Bottleneck kernels(const Numbers& metrics, const Utilisation& use, const std::optional<Card>& card) {
  const double launches = std::max(1.0, value(metrics, "launches")), busy_ps = use.compute * use.time_ps;
  const double flops = value(metrics, "device_flops"), bytes = value(metrics, "device_bytes");
  const auto ps = [](double amount, double rate) { return rate > 0 ? amount / rate * 1e12 : 0; };
  double arithmetic_ps = card ? ps(flops, card->flops_per_s) : 0;
  if (card && arithmetic_ps > busy_ps) arithmetic_ps = ps(flops, card->matrix_flops_per_s);
  const double memory_ps = card ? ps(bytes, card->memory_bytes_per_s) : 0;
  const double work_ps = std::min(busy_ps, std::max(arithmetic_ps, memory_ps));
  const std::string busy = "the compute engine was busy for " + percent_of(use.compute) + " of the time";
  if (card && work_ps < kRealWork * busy_ps) {
    return {Bound::launches,
            fmt::format("Launches bound this run: {}, but {} took {} each on average, of which the work itself, at the "
                        "card's rates, needs {}.",
                        busy, counted(launches, "kernel", "kernels"), time_text(busy_ps / launches),
                        time_text(work_ps / launches))};
  }
  if (arithmetic_ps >= memory_ps) {
    return {Bound::arithmetic,
            fmt::format(
                "Arithmetic bounds this run: {}{}.", busy,
                card ? ", and arithmetic at the card's rate fills " + percent_of(work_ps / busy_ps) + " of that" : "")};
  }
  return {Bound::device_memory,
          fmt::format("Device memory bounds this run: {}, and moving {} at the card's rate fills {} of that.", busy,
                      bytes_text(bytes), percent_of(work_ps / busy_ps))};
}

Bottleneck host(const Numbers& metrics, const Utilisation& use) {
  if (!use.waits || !use.host_work) {
    return {
        Bound::host,
        fmt::format("The host bounds this run: {}. Whether it loads data, waits or launches cannot be told without a "
                    "timeline.",
                    busiest_of(use))};
  }
  const double rest = std::max(0.0, 1 - *use.waits - *use.host_work);
  if (*use.host_work >= *use.waits && *use.host_work >= rest) {
    return {
        Bound::data,
        fmt::format("Data bounds this run: the host's own work (reading, loading, pinning) took {} of the time, and "
                    "{}.",
                    percent_of(*use.host_work), busiest_of(use))};
  }
  if (*use.waits >= kManyWaits) {
    const std::string causes = waits_by_cause(metrics);
    return {Bound::syncs,
            fmt::format("Waits bound this run: the host waited for the card during {} of the time{}, and {}.",
                        percent_of(*use.waits), causes.empty() ? "" : " (" + causes + ")", busiest_of(use))};
  }
  return {Bound::launches,
          fmt::format("Launches bound this run: submitting {} took the host {} of the time, and {}.",
                      counted(value(metrics, "launches"), "kernel", "kernels") + " and " +
                          counted(value(metrics, "h2d_copies") + value(metrics, "d2h_copies"), "copy", "copies"),
                      percent_of(rest), busiest_of(use))};
}

}  // namespace

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::data:
      return "data";
    case Bound::bus:
      return "the bus";
    case Bound::syncs:
      return "waits";
    case Bound::launches:
      return "launches";
    case Bound::arithmetic:
      return "arithmetic";
    case Bound::device_memory:
      return "device memory";
    case Bound::host:
      return "the host";
  }
  return "";
}

double Utilisation::engines() const { return std::clamp(compute + up + down - overlap, 0.0, 1.0); }

std::optional<Utilisation> utilisation_of(const Numbers& metrics, const Trace* trace) {
  const auto compute = find(metrics, "busy_compute_ps"), time_ps = find(metrics, "time_ps");
  if (!compute || !time_ps || !(*time_ps > 0)) return std::nullopt;
  const auto share = [&](double ps) { return std::clamp(ps / *time_ps, 0.0, 1.0); };
  Utilisation use{*time_ps,
                  share(*compute),
                  share(value(metrics, "busy_up_ps")),
                  share(value(metrics, "busy_down_ps")),
                  share(value(metrics, "overlap")),
                  {},
                  {}};
  if (use.engines() == 0) return std::nullopt;
  if (trace != nullptr && !trace->timeline.empty()) {
    // A recording that was cut tells about its own part.
    const double whole = trace->cut ? std::max(trace->end_ps, 1.0) : *time_ps;
    use.waits = std::min(1.0, covered_ps(*trace, true) / whole);
    use.host_work = std::min(1.0 - *use.waits, covered_ps(*trace, false) / whole);
  }
  return use;
}

std::optional<Bottleneck> bottleneck_of(const Numbers& metrics, const Trace* trace, const std::optional<Card>& card) {
  const auto use = utilisation_of(metrics, trace);
  if (!use) return std::nullopt;
  const double copies = std::max(use->up, use->down), busiest = std::max(use->compute, copies);
  if (busiest < kBusyEngine && use->engines() < kBusyEngines) return host(metrics, *use);
  return use->compute >= copies ? kernels(metrics, *use, card) : bus(*use);
}

}  // namespace labrig::reports
