// What labrig asks of labrig-supervisor: which lab, which submission, which cases. Travels as JSON on a descriptor;
// events come back as JSON lines on another.
//
//   kJobDescriptor      one JSON object, then the end
//   kEventDescriptor    {"event": "case", "index": 3, "outcome": {…}}       as cases end, in any order
//                       {"event": "alive"}                                every second: it has not been stopped
//                       {"event": "end"}
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace labrig::supervisor {

inline constexpr int kJobDescriptor = 3;
inline constexpr int kEventDescriptor = 4;
inline constexpr int kAliveMs = 1000;      // between two signs of life
inline constexpr int kSilenceMs = 30'000;  // without any: labrig takes the supervisor for hung, and ends it

struct Job {
  std::filesystem::path lab;         // the lab's folder: lab.toml, judge.so, call.so, reference.json
  std::filesystem::path submission;  // a plugin that inspect() found fit to be loaded
  std::filesystem::path solution;    // the reference solution's plugin; empty: shipped figures only
  std::filesystem::path programs;    // where labrig-worker and labrig-device lie
  std::filesystem::path cache;       // of reference figures; empty: none is kept
  std::vector<spec::Case> cases;
  int jobs = 1;
  // Only the reference solution's figures are wanted; `submission` is not looked at.
  bool record_reference = false;
};

nlohmann::ordered_json to_json(const Job& job);
Job job_from(const nlohmann::ordered_json& json);

}  // namespace labrig::supervisor
