#include "spec/plan.hpp"

#include <cmath>

#include "store/digest.hpp"

namespace labrig::spec {

namespace {

// One of from, from + step, …, up to `to`; each as likely as another.
double draw(const Parameter& parameter, std::uint64_t random) {
  if (parameter.step <= 0 || parameter.to <= parameter.from) return parameter.from;
  const double steps = std::floor((parameter.to - parameter.from) / parameter.step + 1e-9);
  const auto count = static_cast<std::uint64_t>(steps) + 1;
  __extension__ using Wide = unsigned __int128;
  const auto index = static_cast<std::uint64_t>((static_cast<Wide>(random) * count) >> 64);
  return parameter.from + static_cast<double>(index) * parameter.step;
}

}  // namespace

std::vector<Case> plan_cases(const LabSpec& spec, const PlanOptions& options) {
  std::vector<Case> cases;
  for (const ScenarioSpec& scenario : spec.scenarios) {
    if (scenario.visibility == Visibility::hidden && !options.hidden) continue;
    Case item;
    item.scenario = scenario.id;
    item.kind = scenario.kind;
    item.device = scenario.device;
    item.visibility = scenario.visibility;
    item.cards = scenario.cards;
    item.card = scenario.card;
    item.capacity_mib = scenario.capacity_mib;
    item.data = scenario.data;
    item.reads_zeros = scenario.reads_zeros;
    for (const Parameter& parameter : scenario.parameters)
      item.parameters[parameter.name] = draw(
          parameter, store::hmac_number(options.secret, {"shape", spec.id, spec.version, scenario.id, parameter.name}));
    for (const std::string& profile :
         scenario.profiles.empty() ? std::vector<std::string>{kNoProfile} : scenario.profiles) {
      item.profile = profile;
      item.id = scenario.id + "@" + profile;
      item.seed = options.seed.value_or(
          store::hmac_number(options.secret, {"data", spec.id, options.submission_hash, item.id}));
      cases.push_back(item);
    }
  }
  return cases;
}

}  // namespace labrig::spec
