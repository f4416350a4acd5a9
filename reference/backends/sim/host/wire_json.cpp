// The bodies of messages as JSON. The only file here that includes nlohmann's library.
#include <nlohmann/json.hpp>

#include "host/profile_fields.hpp"
#include "host/wire.hpp"

namespace labrig::sim {
namespace {

using nlohmann::json;

json to_json(const Profile& profile) {
  json body = {{"name", profile.name}};
  visit_fields(profile, [&](const char* section, const char* key, const auto& member, std::int64_t, std::int64_t) {
    body[section][key] = member;
  });
  json& schedule = body["schedule"] = json::array();
  for (const OtherProcesses& entry : profile.other_processes_schedule) schedule.push_back({entry.at_ps, entry.bytes});
  return body;
}

Profile profile_from(const json& body) {
  Profile profile;
  profile.name = body.at("name").get<std::string>();
  visit_fields(profile, [&](const char* section, const char* key, auto& member, std::int64_t, std::int64_t) {
    body.at(section).at(key).get_to(member);
  });
  for (const json& entry : body.at("schedule")) profile.other_processes_schedule.push_back({entry.at(0), entry.at(1)});
  return profile;
}

// The limits, once for both directions.
template <class L, class Visit>
void visit_limits(L& limits, Visit&& visit) {
  visit("commands", limits.commands);
  visit("pending_operations", limits.pending_operations);
  visit("kernel_steps", limits.kernel_steps);
  visit("case_steps", limits.case_steps);
  visit("real_bytes", limits.real_bytes);
  visit("pinned_bytes", limits.pinned_bytes);
  visit("trace_events", limits.trace_events);
}

template <class M, class Visit>
void visit_metrics(M& m, Visit&& visit) {
  visit(m.h2d_bytes), visit(m.h2d_copies), visit(m.d2h_bytes), visit(m.d2h_copies);
  visit(m.h2d_non_blocking_bytes), visit(m.h2d_async_bytes);
  visit(m.launches), visit(m.device_flops), visit(m.hidden_copies), visit(m.hidden_copy_bytes);
  visit(m.syncs_explicit), visit(m.syncs_value), visit(m.syncs_copy), visit(m.syncs_implicit);
  visit(m.time_ps), visit(m.peak_allocated_bytes), visit(m.peak_reserved_bytes), visit(m.pinned_peak_bytes);
  visit(m.pinned_taken_peak_bytes);
  visit(m.hazards), visit(m.busy_compute_ps), visit(m.busy_up_ps), visit(m.busy_down_ps), visit(m.overlap_ps);
  visit(m.device_bytes);
  visit(m.loop_full_stops), visit(m.loop_pinned_tensors), visit(m.loop_ps);
}

json to_json(const Hazard::Side& side) { return {side.what, side.host, side.device, side.stream, side.operation}; }

Hazard::Side side_from(const json& body) { return {body.at(0), body.at(1), body.at(2), body.at(3), body.at(4)}; }

json to_json(const Hazard& hazard) {
  return {static_cast<int>(hazard.kind),
          to_json(hazard.earlier),
          to_json(hazard.later),
          hazard.buffer,
          hazard.offset,
          hazard.bytes,
          hazard.count,
          hazard.text,
          hazard.time_ps};
}

Hazard hazard_from(const json& body) {
  return {static_cast<Hazard::Kind>(body.at(0).get<int>()),
          side_from(body.at(1)),
          side_from(body.at(2)),
          body.at(3),
          body.at(4),
          body.at(5),
          body.at(6),
          body.at(7),
          body.at(8)};
}

json to_json(const Peak& peak) {
  json alive = json::array();
  for (const Peak::Alive& all : peak.alive) alive.push_back({all.name, all.bytes, all.count});
  return {peak.time_ps, std::move(alive)};
}

Peak peak_from(const json& body) {
  Peak peak{body.at(0), {}};
  for (const json& all : body.at(1)) peak.alive.push_back({all.at(0), all.at(1), all.at(2)});
  return peak;
}

template <class T, class Decode>
T decoded(const std::string& body, Decode decode) {
  try {
    return decode(json::parse(body));
  } catch (const json::exception& error) {
    throw Error("bad-message", "supervisor and card do not understand each other", error.what(),
                "build labrig and labrig-device from the same sources");
  }
}

// Text of a client may be anything; JSON is UTF-8.
std::string dump(const json& body) { return body.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string encode(const MachineOptions& options) {
  json body = {{"late", options.mode == Mode::late}, {"data", options.data}, {"reads_zeros", options.reads_zeros}};
  for (const Profile& card : options.cards) body["cards"].push_back(to_json(card));
  visit_limits(options.limits, [&](const char* key, const auto& member) { body["limits"][key] = member; });
  return dump(body);
}

MachineOptions decode_options(const std::string& text) {
  return decoded<MachineOptions>(text, [](const json& body) {
    MachineOptions options;
    options.mode = body.at("late").get<bool>() ? Mode::late : Mode::eager;
    options.data = body.at("data").get<bool>();
    options.reads_zeros = body.at("reads_zeros").get<bool>();
    for (const json& card : body.at("cards")) options.cards.push_back(profile_from(card));
    visit_limits(options.limits, [&](const char* key, auto& member) { body.at("limits").at(key).get_to(member); });
    return options;
  });
}

std::string encode(const Report& report) {
  json metrics = json::array(), timeline = json::array(), memory = json::array(), hazards = json::array();
  visit_metrics(report.metrics, [&](const auto& value) { metrics.push_back(value); });
  for (const Span& span : report.timeline) {
    timeline.push_back({static_cast<int>(span.lane), span.device, span.stream, span.start_ps, span.end_ps, span.bytes,
                        span.name, static_cast<int>(span.wait)});
  }
  for (const MemoryPoint& point : report.memory) {
    memory.push_back({point.time_ps, point.allocated_bytes, point.reserved_bytes, point.pinned_bytes});
  }
  for (const Hazard& hazard : report.hazards) hazards.push_back(to_json(hazard));
  return dump({{"metrics", std::move(metrics)},
               {"peaks", report.peak_allocated_bytes_by_card},
               {"hazards", std::move(hazards)},
               {"notes", report.notes},
               {"timeline", std::move(timeline)},
               {"memory", std::move(memory)},
               {"peak", to_json(report.peak)},
               {"finished", report.finished},
               {"violation_code", report.violation_code},
               {"violation_text", report.violation_text},
               {"last_command", report.last_command},
               {"crash_text", report.crash_text}});
}

Report decode_report(const std::string& text) {
  return decoded<Report>(text, [](const json& body) {
    Report report;
    std::size_t next = 0;
    visit_metrics(report.metrics, [&](auto& value) { body.at("metrics").at(next++).get_to(value); });
    body.at("peaks").get_to(report.peak_allocated_bytes_by_card);
    for (const json& span : body.at("timeline")) {
      report.timeline.push_back({static_cast<Span::Lane>(span.at(0).get<int>()), span.at(1), span.at(2), span.at(3),
                                 span.at(4), span.at(5), span.at(6), static_cast<Span::Wait>(span.at(7).get<int>())});
    }
    for (const json& point : body.at("memory")) {
      report.memory.push_back({point.at(0), point.at(1), point.at(2), point.at(3)});
    }
    report.peak = peak_from(body.at("peak"));
    for (const json& hazard : body.at("hazards")) report.hazards.push_back(hazard_from(hazard));
    body.at("notes").get_to(report.notes);
    report.finished = body.at("finished");
    report.violation_code = body.at("violation_code");
    report.violation_text = body.at("violation_text");
    report.last_command = body.at("last_command");
    report.crash_text = body.at("crash_text");
    return report;
  });
}

std::string encode(const Error& error) {
  return dump({{"code", error.code()}, {"what", error.what()}, {"why", error.why()}, {"fix", error.fix()}});
}

Error decode_error(const std::string& text) {
  return decoded<Error>(
      text, [](const json& body) { return Error(body.at("code"), body.at("what"), body.at("why"), body.at("fix")); });
}

}  // namespace labrig::sim
