#include "doctor/installed.hpp"

#include <fmt/format.h>

#include "backends/sim/machine.hpp"
#include "build/run_program.hpp"
#include "labrig/build_tag.hpp"
#include "labrig/ops.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::doctor {
namespace fs = std::filesystem;
namespace {

constexpr char kWhole[] =
    "build or install labrig as a whole: `cmake --build build`, then `cmake --install build --prefix DIR`";

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Check programs_check(const Places& places) {
  const Facts facts = {{"folder", places.programs.string()}};
  for (const char* name : {"labrig-supervisor", "labrig-worker", "labrig-device"})
    if (std::error_code ignored; !fs::exists(places.programs / name, ignored))
      return failed(
          "programs",
          {fmt::format("{} is not beside labrig", name), "it is looked for in " + places.programs.string(), kWhole},
          facts);
  return passed("programs", places.programs.string(), facts);
}

Check headers_check(const build::Installation& installation) {
  const std::string folder = installation.include.string(), hash = installation.facts.header_hash;
  const Facts facts = {{"folder", folder}, {"hash", hash}, {"hash_of_program", LABRIG_HEADER_HASH}};
  if (!fs::exists(installation.include / "labrig/tensor.hpp"))
    return failed("headers",
                  {"labrig's headers are not there", "submissions are compiled against those in " + folder, kWhole},
                  facts);
  if (hash != LABRIG_HEADER_HASH)
    return failed("headers",
                  {"the headers are not those that this program was built with",
                   fmt::format("in {} they have the hash {}, here " LABRIG_HEADER_HASH, folder, hash),
                   "build labrig again (`cmake --build build`), or install it into an empty folder"},
                  facts);
  return passed("headers", "hash " + hash + ", as this program", facts);
}

Check labs_check(const Places& places) {
  std::vector<std::string> ids;
  for (const fs::path& folder : places.labs) {
    const spec::LabSpec lab = spec::load_lab(folder).value();
    for (const char* module : {"judge.so", "call.so"})
      if (!fs::exists(folder / module))
        return failed("labs",
                      {fmt::format("the lab {} has no {}", lab.id, module), "it was not built, in " + folder.string(),
                       "build it: `cmake --build` with its build folder"},
                      {{"labs", ids}});
    ids.push_back(lab.id);
  }
  const Facts facts = {{"labs", ids}};
  if (ids.empty())
    return failed("labs",
                  {"no lab was found", "without one there is nothing to grade",
                   "build labrig as a whole, or say where labs are: `export LABRIG_LABS=DIR`"},
                  facts);
  return passed("labs", fmt::format("{} built; `labrig labs` lists them", ids.size()), facts);
}

Check profiles_check() {
  std::vector<std::string> names;
  for (const std::string& name : sim::profile_names()) names.push_back(sim::load_profile(name).value().name);
  const Facts facts = {{"profiles", names}};
  if (names.empty())
    return failed("profiles", {"no card profile was found", "the simulated card is made from one", kWhole}, facts);
  return passed("profiles", joined(names), facts);
}

Check simulated_card_check(const Places& places) {
  sim::MachineOptions options;
  options.cards = {sim::load_profile("desktop").value()};
  {
    const sim::CardProcess card(places.programs / "labrig-device", options);
  }
  const sim::InProcessMachine machine(options);
  const double sum = labrig::sum(ones({4, 4}, Device("sim:0"))).item();
  if (sum == 16) return passed("simulated-card", "starts and adds up");
  return failed("simulated-card",
                {fmt::format("the simulated card adds sixteen ones to {}", sum), "its kernels compute wrongly",
                 "this is a fault of labrig: report it with the output of `labrig doctor --json`"});
}

Check cmake_check() {
  const build::RunResult run = build::run_program({"cmake", "--version"}, {});
  const std::string version = first_line(run.output);
  if (run.succeeded()) return passed("cmake", version, {{"version", version}});
  return warned("cmake", {"cmake does not run", "labrig does without; your editor and builds of your own do not",
                          "`sudo apt-get install cmake ninja-build`"});
}

Check toolkit_check() {
  const build::RunResult run = build::run_program({"nvcc", "--version"}, {});
  if (!run.succeeded()) return skipped("cuda-toolkit", "no nvcc in PATH; only builds of labrig with CUDA need it");
  const std::size_t at = run.output.find("release ");
  const std::string version = at == std::string::npos ? first_line(run.output) : first_line(run.output.substr(at));
  return passed("cuda-toolkit", version, {{"version", version}});
}

}  // namespace labrig::doctor
