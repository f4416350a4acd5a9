#include "worker/on_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "labrig/memory.hpp"
#include "store/digest.hpp"
#include "supervisor/job.hpp"
#include "worker/one_process.hpp"

namespace labrig::worker {
namespace {

using Json = nlohmann::ordered_json;

// Why the case says nothing on that device; empty when it can be run.
std::string unfit(const spec::Case& plan, Device device) {
  if (plan.device == DeviceType::cpu) return "it runs on the host, which is the same everywhere";
  if (!plan.data) return "it counts costs alone and has no values";
  if (device.type() == DeviceType::sim) return "";
  const int cards = device_count(device.type());
  return plan.cards > cards ? fmt::format("it asks for {} cards, and here are {}", plan.cards, cards) : "";
}

// A real card keeps its size: what the case may have of it is made a limit of this process, which the allocator refuses
// at as the driver does where a card ends.
void limit_to(std::int64_t capacity_mib, Device device) {
  const double total = static_cast<double>(mem_get_info(device).total_bytes);
  const double wanted = capacity_mib > 0 ? static_cast<double>(capacity_mib) * (1 << 20) : total;
  set_per_process_memory_fraction(std::min(wanted / total, 1.0), device);
}

Json run_on(const spec::LabSpec& lab, const std::filesystem::path& plugin, spec::Case plan, Device device) {
  Json result = {{"id", plan.id}, {"status", "skipped"}, {"code", nullptr}, {"text", unfit(plan, device)}};
  if (result["text"] != "") return result;
  if (device.type() != DeviceType::sim) {
    plan.device = device.type();
    if (plan.cards == 1) plan.card = device.index();
    empty_cache(device);  // of the case before
    limit_to(plan.capacity_mib, device);
  }
  const grade::CaseOutcome outcome = run_in_this_process(lab, plugin, plan);
  // A hazard is the ordering's, and only the simulated card sees it: the values are right.
  const bool right = outcome.status == grade::Status::ok || outcome.status == grade::Status::hazard;
  result["status"] = right ? "right" : "wrong";
  if (!right && outcome.reason) result["code"] = outcome.reason->code, result["text"] = grade::in_full(*outcome.reason);
  return result;
}

int without_card(const Error& error, bool json) {
  if (json)
    fmt::print(
        "{}\n",
        Json{{"error", {{"code", error.code()}, {"what", error.what()}, {"why", error.why()}, {"fix", error.fix()}}}}
            .dump(2));
  else
    std::fprintf(stderr, "%s\n", error.message().c_str());
  return 4;
}

}  // namespace

int values_on(const std::filesystem::path& job_file, const std::string& device_text, bool json) {
  const supervisor::Job job = supervisor::job_from(Json::parse(store::read_file(job_file).value()));
  const spec::LabSpec lab = spec::load_lab(job.lab).value();
  Device device(device_text);
  try {
    if (device.type() != DeviceType::sim) device = resolve(device);  // the simulated card is made for each case
  } catch (const Error& error) {
    return without_card(error, json);
  }
  std::map<std::string, int> count = {{"right", 0}, {"wrong", 0}, {"skipped", 0}};
  Json cases = Json::array();
  for (const spec::Case& plan : job.cases) {
    const Json result = run_on(lab, job.submission, plan, device);
    ++count[result["status"].get<std::string>()];
    if (!json) {
      const std::string text = result["text"].get<std::string>();
      fmt::print("{}: {}{}\n", plan.id, result["status"].get<std::string>(), text.empty() ? "" : "\n  why: " + text);
    }
    std::fflush(stdout);
    cases.push_back(result);
  }
  if (json)
    fmt::print("{}\n", Json{{"device", device.str()},
                            {"cases", cases},
                            {"right", count["right"]},
                            {"wrong", count["wrong"]},
                            {"skipped", count["skipped"]}}
                           .dump(2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("values on {}: {} right, {} wrong, {} skipped; a real card gives no points\n", device.str(),
               count["right"], count["wrong"], count["skipped"]);
  if (count["wrong"] > 0) return 1;
  return count["right"] > 0 ? 0 : 4;
}

}  // namespace labrig::worker
