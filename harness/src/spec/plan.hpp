// From scenarios to cases: one case is scenario x profile, with its parameters drawn and its data seeded. Shapes are
// the same for a whole class (they depend on the course's secret and the lab); data differ from submission to
// submission.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/lab_spec.hpp"

namespace labrig::spec {

inline constexpr char kPublicSecret[] = "labrig";
inline constexpr char kNoProfile[] = "cpu";  // of a case on the host that names no profile

struct Case {
  std::string id;  // "small-batches@desktop"
  std::string scenario, kind, profile;
  DeviceType device = DeviceType::sim;
  int cards = 1, card = 0;  // how many there are, and which one the submission is asked to use
  Visibility visibility = Visibility::visible;
  std::int64_t capacity_mib = 0;  // 0: as in the profile
  bool data = true, reads_zeros = false;
  std::map<std::string, double> parameters;
  std::uint64_t seed = 0;  // of the data
};

// sim:CARD, or the host; on a real card cuda:CARD (`labrig check --device cuda:0`).
inline Device device_of(const Case& plan) {
  return plan.device == DeviceType::cpu ? Device() : Device(plan.device, plan.card);
}

struct PlanOptions {
  std::string secret = kPublicSecret;
  std::string submission_hash;
  std::optional<std::uint64_t> seed;  // instead of the drawn data seed, in every case
  bool hidden = true;                 // also the hidden scenarios
};

// The cases in the order of lab.toml.
std::vector<Case> plan_cases(const LabSpec& spec, const PlanOptions& options);

}  // namespace labrig::spec
