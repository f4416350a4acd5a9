#include "supervisor/reference_store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cmath>

#include "labrig/plugin.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"
#include "supervisor/card_facts.hpp"

namespace labrig::supervisor {

using Json = nlohmann::ordered_json;

namespace {

constexpr char kSchema[] = "labrig.reference/1";

// Changes whenever one of the files is written anew.
std::string stamp_of(const std::vector<std::filesystem::path>& files) {
  std::string facts;
  for (const std::filesystem::path& file : files) {
    struct stat status{};
    if (::stat(file.c_str(), &status) == 0)
      facts +=
          fmt::format("{} {} {}.{}\n", file.string(), status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return store::sha256_hex(facts).substr(0, 16);
}

}  // namespace

std::string case_key(const spec::LabSpec& lab, const spec::Case& plan) {
  std::string facts = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", lab.id, lab.version, plan.scenario, plan.kind,
                                  name_of(plan.device), plan.data, LABRIG_HEADER_HASH);
  if (plan.cards != 1) facts += fmt::format("{} of {} cards\n", plan.card, plan.cards);
  if (plan.capacity_mib > 0) facts += fmt::format("capacity_mib={}\n", plan.capacity_mib);
  for (const auto& [name, value] : plan.parameters) facts += fmt::format("{}={}\n", name, value);
  facts += plan.profile == spec::kNoProfile ? std::string(spec::kNoProfile) : profile_facts(plan.profile);
  return store::sha256_hex(facts).substr(0, 32);
}

ReferenceStore::ReferenceStore(const spec::LabSpec& lab, std::filesystem::path cache,
                               const std::vector<std::filesystem::path>& made_with)
    : lab_(lab), cache_(std::move(cache)), stamp_(stamp_of(made_with)) {
  const Result<std::string> text = store::read_file(lab.folder / "reference.json");
  if (!text) return;
  try {
    const Json json = Json::parse(text.value());
    if (json.at("schema") != kSchema) return;
    for (const Json& item : json.at("cases")) shipped_[item.at("key").get<std::string>()] = grade::reference_from(item);
  } catch (const Json::exception&) {
    shipped_.clear();  // damaged, or of another version: figures are computed
  }
}

std::filesystem::path ReferenceStore::cache_file(const spec::Case& plan) const {
  return cache_ / lab_.id / fmt::format("{}-{}.json", case_key(lab_, plan), stamp_);
}

std::optional<grade::Reference> ReferenceStore::find(const spec::Case& plan) const {
  std::optional<grade::Reference> cached = find_cached(plan);
  const auto shipped = shipped_.find(case_key(lab_, plan));
  if (shipped == shipped_.end()) return cached;
  grade::Reference reference = shipped->second;
  if (cached) reference.trace = std::move(cached->trace);
  return reference;
}

std::optional<grade::Reference> ReferenceStore::find_cached(const spec::Case& plan) const {
  if (cache_.empty()) return std::nullopt;
  const Result<std::string> text = store::read_file(cache_file(plan));
  if (!text) return std::nullopt;
  try {
    return grade::reference_from(Json::parse(text.value()));
  } catch (const Json::exception&) {
    return std::nullopt;  // damaged: it is computed again and replaced
  }
}

void ReferenceStore::keep(const spec::Case& plan, const grade::Reference& reference) const {
  if (cache_.empty()) return;
  try {
    store::write_atomically(cache_file(plan), grade::to_json(reference).dump() + "\n", store::Existing::replace);
  } catch (const Error&) {
    // Without a cache every run computes the figures anew; that is slower, and all.
  }
}

std::string shipped_figures(const spec::LabSpec& lab, const std::vector<grade::CaseOutcome>& outcomes,
                            bool with_traces) {
  constexpr double kStepMs = 200;
  std::string cases;
  for (const grade::CaseOutcome& outcome : outcomes) {
    grade::Reference reference = outcome.reference.value();
    reference.cpu_ms = std::ceil(reference.cpu_ms / kStepMs) * kStepMs;
    if (!with_traces) reference.trace = nullptr;
    Json item = {{"case", outcome.plan.id}, {"key", case_key(lab, outcome.plan)}};
    item.update(grade::to_json(reference));
    cases += (cases.empty() ? "\n  " : ",\n  ") + item.dump();  // one case a line: readable differences
  }
  return fmt::format("{{\"schema\": \"{}\", \"lab\": \"{}\", \"version\": \"{}\", \"cases\": [{}\n]}}\n", kSchema,
                     lab.id, lab.version, cases);
}

}  // namespace labrig::supervisor
