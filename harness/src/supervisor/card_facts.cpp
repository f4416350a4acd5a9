#include "supervisor/card_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace labrig::supervisor {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint32_t kTraceEvents = 1024;  // enough for a chart; the report stays small

std::string copy_facts(const sim::CopyRates& rates) {
  return fmt::format("{} {} {} {}", rates.latency_ps, rates.pinned_bytes_per_s, rates.inline_bytes_per_s,
                     rates.staged_bytes_per_s);
}

const char* name_of(sim::Span::Lane lane) {
  constexpr const char* names[] = {"host", "compute", "up", "down"};
  return names[static_cast<std::size_t>(lane)];
}

}  // namespace

sim::MachineOptions machine_options(const spec::Case& plan, const spec::Limits& limits, sim::Mode mode) {
  sim::MachineOptions options;
  options.cards.push_back(sim::load_profile(plan.profile).value());
  options.mode = mode;
  options.data = plan.data;
  options.limits.real_bytes = static_cast<std::uint64_t>(limits.device_mib) << 20;
  options.limits.trace_events = kTraceEvents;
  return options;
}

grade::Rows metric_rows(const sim::Metrics& metrics) { return sim::to_rows(metrics); }

Json trace_json(const sim::Report& report) {
  Json trace = {{"timeline", Json::array()}, {"memory", Json::array()}, {"cut", false}};
  for (const sim::Span& span : report.timeline)
    trace["timeline"].push_back({{"lane", name_of(span.lane)},
                                 {"stream", span.stream},
                                 {"start_ps", span.start_ps},
                                 {"end_ps", span.end_ps},
                                 {"bytes", span.bytes},
                                 {"name", span.name}});
  for (const sim::MemoryPoint& point : report.memory)
    trace["memory"].push_back({{"time_ps", point.time_ps},
                               {"allocated_bytes", point.allocated_bytes},
                               {"reserved_bytes", point.reserved_bytes},
                               {"pinned_bytes", point.pinned_bytes}});
  trace["cut"] = report.timeline.size() >= kTraceEvents || report.memory.size() >= kTraceEvents;
  return trace;
}

std::string profile_facts(const std::string& name) {
  const sim::Profile p = sim::load_profile(name).value();
  return fmt::format(
      "{} {} {}.{} {} {} | {} {} | {} | {} | {} | {} {} {} {} | {} | {} | {} {} {} {} | {} {} {} | {} {} {} {} {} | "
      "{} {} {} {} {}",
      p.name, p.version, p.compute_capability_major, p.compute_capability_minor, p.bf16, p.tf32, p.capacity_bytes,
      p.other_processes_bytes, fmt::join(p.flops_per_s, " "), fmt::join(p.matrix_flops_per_s, " "),
      p.memory_bytes_per_s, p.kernel_fixed_ps, p.kernel_gap_ps, p.launch_latency_ps, p.launch_host_ps, copy_facts(p.up),
      copy_facts(p.down), p.copy_host_ps, p.both_ways_numerator, p.both_ways_denominator, p.within_bytes_per_s,
      p.sync_ps, p.event_ps, p.query_ps, p.malloc_ps, p.malloc_ps_per_mib, p.free_ps, p.pin_ps, p.pin_ps_per_mib,
      p.host_flops_per_s, p.host_bytes_per_s, p.host_call_ps, p.host_threads, p.queue_depth);
}

}  // namespace labrig::supervisor
