#include "supervisor/card_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "host/profile_fields.hpp"
#include "supervisor/thin_trace.hpp"

namespace labrig::supervisor {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint32_t kTraceEvents = 4096;              // that a card keeps
constexpr std::size_t kTraceBars = 72, kTraceSteps = 36;  // and a report

const char* name_of(sim::Span::Lane lane) {
  constexpr const char* names[] = {"host", "compute", "up", "down"};
  return names[static_cast<std::size_t>(lane)];
}

const char* name_of(sim::Span::Wait wait) {
  constexpr const char* names[] = {"", "explicit", "value", "copy", "implicit"};
  return names[static_cast<std::size_t>(wait)];
}

Json timeline_json(std::span<const sim::Span> spans) {
  Json timeline = Json::array();
  for (const sim::Span& span : spans) {
    timeline.push_back({{"lane", name_of(span.lane)},
                        {"stream", span.stream},
                        {"start_ps", span.start_ps},
                        {"end_ps", span.end_ps},
                        {"bytes", span.bytes},
                        {"name", span.name}});
    if (span.wait != sim::Span::Wait::none) timeline.back()["sync"] = name_of(span.wait);
  }
  return timeline;
}

// What the second of the two did, as a reason code.
const char* kind_of(const sim::Hazard& hazard) {
  using Kind = sim::Hazard::Kind;
  if (hazard.kind == Kind::freed_in_flight) return "freed-in-flight";
  const bool reads = hazard.kind == Kind::read_after_write;
  if (hazard.later.host) return reads ? "host-read-in-flight" : "host-write-in-flight";
  return reads ? "unordered-read" : "unordered-write";
}

}  // namespace

sim::MachineOptions machine_options(const spec::Case& plan, const spec::Limits& limits, sim::Mode mode) {
  sim::MachineOptions options;
  options.cards.assign(static_cast<std::size_t>(plan.cards), sim::load_profile(plan.profile).value());
  if (plan.capacity_mib > 0)
    for (sim::Profile& card : options.cards) card.capacity_bytes = static_cast<std::uint64_t>(plan.capacity_mib) << 20;
  options.mode = mode;
  options.data = plan.data;
  options.reads_zeros = plan.reads_zeros;
  options.limits.real_bytes = static_cast<std::uint64_t>(limits.device_mib) << 20;
  options.limits.trace_events = kTraceEvents;
  return options;
}

grade::Rows metric_rows(const spec::Case& plan, const sim::Report& report) {
  grade::Rows rows = sim::to_rows(report.metrics);
  if (plan.cards == 1) return rows;
  std::uint64_t elsewhere = 0;
  const auto& peaks = report.peak_allocated_bytes_by_card;
  for (std::size_t card = 0; card < peaks.size(); ++card)
    if (card != static_cast<std::size_t>(plan.card)) elsewhere += peaks[card];
  rows.emplace_back("other_cards_peak_bytes", static_cast<std::int64_t>(elsewhere));
  return rows;
}

std::vector<grade::Hazard> hazards_of(const sim::Report& report) {
  const auto side = [](const sim::Hazard::Side& one) {
    return grade::Hazard::Side{one.what, one.host ? std::nullopt : std::optional<std::int64_t>(one.stream)};
  };
  std::vector<grade::Hazard> groups;
  for (const sim::Hazard& hazard : report.hazards)
    groups.push_back({kind_of(hazard), hazard.text, static_cast<std::int64_t>(hazard.count), side(hazard.earlier),
                      side(hazard.later), hazard.buffer, static_cast<std::int64_t>(hazard.bytes), hazard.time_ps});
  return groups;
}

Json trace_json(const sim::Report& report) {
  Json memory = Json::array();
  for (const sim::MemoryPoint& point : thinned_steps(report.memory, kTraceSteps))
    memory.push_back({{"time_ps", point.time_ps},
                      {"allocated_bytes", point.allocated_bytes},
                      {"reserved_bytes", point.reserved_bytes},
                      {"pinned_bytes", point.pinned_bytes}});
  Json alive = Json::array();
  for (const sim::Peak::Alive& all : report.peak.alive)
    alive.push_back({{"name", all.name}, {"bytes", all.bytes}, {"count", all.count}});
  std::vector<sim::Span> bars = merged_bars(report.timeline, kTraceBars);
  const bool cut =
      bars.size() > kTraceBars || report.timeline.size() >= kTraceEvents || report.memory.size() >= kTraceEvents;
  if (bars.size() > kTraceBars) bars.resize(kTraceBars);
  return {{"timeline", timeline_json(bars)},
          {"memory", std::move(memory)},
          {"cut", cut},
          {"peak", {{"time_ps", report.peak.time_ps}, {"alive", std::move(alive)}}}};
}

Json card_rates_json(const spec::Case& plan) {
  const sim::Profile card = machine_options(plan, {}, sim::Mode::eager).cards.front();
  // Products of 16 bits on cards that have units for them, else of 32.
  std::int64_t matrix = 0;
  for (const Dtype dtype : {kF32, kF16, kBF16})
    if (dtype != kBF16 || card.bf16)
      matrix = std::max(matrix, card.matrix_flops_per_s[static_cast<std::size_t>(dtype)]);
  return {{"title", fmt::format("{}, {} MiB, compute capability {}.{}", card.name, card.capacity_bytes >> 20,
                                card.compute_capability_major, card.compute_capability_minor)},
          {"capacity_bytes", card.capacity_bytes},
          {"flops_per_s", card.flops_per_s[static_cast<std::size_t>(kF32)]},
          {"matrix_flops_per_s", matrix},
          {"memory_bytes_per_s", card.memory_bytes_per_s},
          {"up_bytes_per_s", card.up.pinned_bytes_per_s},
          {"down_bytes_per_s", card.down.pinned_bytes_per_s}};
}

std::string profile_facts(const std::string& name) {
  const sim::Profile profile = sim::load_profile(name).value();
  std::string facts = profile.name;
  sim::visit_fields(profile, [&](const char* section, const char* key, const auto& value, auto, auto) {
    facts += fmt::format(" {}.{}={}", section, key, value);
  });
  return facts;
}

}  // namespace labrig::supervisor
