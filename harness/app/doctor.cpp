// labrig doctor: is this machine fit for labrig? One line a finding; what is needed and missing comes with its fix. A
// missing card is no failure: everything grades on the simulated one.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "backends/sim/machine.hpp"
#include "build/build_submission.hpp"
#include "build/run_program.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "labrig/build_tag.hpp"
#include "labrig/error.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "spec/lab_spec.hpp"
#include "store/atomic_file.hpp"
#include "store/card_environment.hpp"

namespace labrig::app {

namespace fs = std::filesystem;

namespace {

// `advice`: labrig works, but something is less than it could be. `missing`: it does not work.
enum class State { ok, advice, missing };

struct Finding {
  std::string name;
  State state = State::ok;
  std::string text, fix;
};

const char* name_of(State state) { return state == State::ok ? "ok" : state == State::advice ? "advice" : "missing"; }

// Runs a check; an Error that it throws is a finding.
template <class Check>
Finding find(const char* name, Check&& check) {
  try {
    return check();
  } catch (const Error& error) {
    return {name, State::missing, std::string(error.what()) + ": " + error.why(), error.fix()};
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Finding programs(const Context& context) {
  for (const char* name : {"labrig-supervisor", "labrig-worker", "labrig-device"})
    if (!fs::exists(context.program(name)))
      return {"programs", State::missing, std::string(name) + " is not beside labrig in " + context.programs.string(),
              "build or install labrig as a whole"};
  return {"programs", State::ok, context.programs.string(), ""};
}

Finding headers(const build::Installation& installation) {
  if (!fs::exists(installation.include / "labrig/tensor.hpp"))
    return {"headers", State::missing, "there are no headers in " + installation.include.string(),
            "build or install labrig as a whole: submissions are compiled against its headers"};
  if (installation.facts.header_hash != LABRIG_HEADER_HASH)
    return {"headers", State::missing,
            "the headers in " + installation.include.string() + " (" + installation.facts.header_hash +
                ") are not those that this program was built with (" LABRIG_HEADER_HASH ")",
            "build labrig again, or install it into an empty folder"};
  return {"headers", State::ok, installation.include.string() + ", hash " LABRIG_HEADER_HASH, ""};
}

Finding compiler(const build::Installation& installation) {
  const build::Compiler found = build::find_compiler(installation).value();
  return {"compiler", State::ok, found.path + ": " + found.version, ""};
}

Finding cmake() {
  const build::RunResult run = build::run_program({"cmake", "--version"}, {});
  if (run.succeeded()) return {"cmake", State::ok, first_line(run.output), ""};
  return {"cmake", State::advice, "cmake does not run; labrig does without, your own builds and your editor do not",
          "apt-get install cmake ninja-build"};
}

Finding cache() {
  const fs::path folder = build::cache_folder();
  store::write_atomically(folder / "doctor", "written by labrig doctor\n", store::Existing::replace);
  fs::remove(folder / "doctor");
  return {"cache", State::ok, folder.string() + " can be written", ""};
}

Finding labs(const Context& context) {
  std::string found;
  std::error_code ignored;
  for (const fs::path& folder : context.labs)
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (!fs::exists(entry.path() / "lab.toml")) continue;
      const spec::LabSpec lab = spec::load_lab(entry.path()).value();
      for (const char* module : {"judge.so", "call.so"})
        if (!fs::exists(entry.path() / module))
          return {"labs", State::missing, "the lab " + lab.id + " has no " + module,
                  "build it again: `cmake --build` in its build folder"};
      found += (found.empty() ? "" : ", ") + lab.id;
    }
  if (found.empty())
    return {"labs", State::missing, "no lab was found",
            "build labrig as a whole, or say where labs are with --labs DIR or LABRIG_LABS"};
  return {"labs", State::ok, found, ""};
}

Finding profiles() {
  std::string found;
  for (const std::string& name : sim::profile_names()) {
    const sim::Profile profile = sim::load_profile(name).value();
    found += (found.empty() ? "" : ", ") + profile.name;
  }
  if (found.empty())
    return {"profiles", State::missing, "no card profile was found", "build or install labrig as a whole"};
  return {"profiles", State::ok, found, ""};
}

// Both homes of the simulated card: a process, as for grading, and this process, as for one's own programs.
Finding simulated_card(const Context& context) {
  sim::MachineOptions options;
  options.cards = {sim::load_profile("desktop").value()};
  {
    const sim::CardProcess card(context.program("labrig-device"), options);
  }
  const sim::InProcessMachine machine(options);
  const double sum = labrig::sum(ones({4, 4}, Device("sim:0"))).item();
  if (sum != 16)
    return {"simulated card", State::missing, "the simulated card adds sixteen ones to " + std::to_string(sum),
            "report this: it is a fault of labrig"};
  return {"simulated card", State::ok, "starts, and adds up", ""};
}

// A card is welcome, not needed.
Finding cuda() {
  const int cards = device_count(DeviceType::cuda);
  if (cards == 0) {
    try {
      resolve(Device(DeviceType::cuda, 0));
    } catch (const Error& error) {
      return {"cuda", State::ok, "no card, and none is needed (" + error.why() + ")", ""};
    }
  }
  std::string text;
  for (int i = 0; i < cards; ++i) {
    const Device device(DeviceType::cuda, i);
    const MemoryInfo memory = mem_get_info(device);
    text += (i > 0 ? "; " : "") + describe(device) + ", " + std::to_string(memory.free_bytes >> 20) + " MiB free, " +
            std::to_string((memory.total_bytes - memory.free_bytes) >> 20) +
            " MiB held by this process's context and by others";
  }
  return {"cuda", State::ok, text, ""};
}

// What the machine says of its cards although none can be used.
Finding card_access(const Context& context) {
  std::error_code ignored;
  const bool backend = fs::exists(context.root / "lib/liblabrig-cuda.so", ignored);
  const store::CardAdvice advice = store::card_advice(store::card_facts(backend));
  if (advice.text.empty()) return {"card access", State::ok, "nothing stands between labrig and a card", ""};
  return {"card access", State::advice, advice.text, advice.fix};
}

// A tensor lies where it was asked for, with the type and the number of elements that were asked for, on every device
// there is. What a program should assert at its start: it catches "it was on the CPU all along".
Finding placement() {
  std::string text;
  std::vector<Device> devices = {Device(DeviceType::cpu)};
  for (int i = 0; i < device_count(DeviceType::sim); ++i) devices.emplace_back(DeviceType::sim, i);
  for (int i = 0; i < device_count(DeviceType::cuda); ++i) devices.emplace_back(DeviceType::cuda, i);
  for (const Device device : devices) {
    const Tensor tensor = ones({3, 5}, device);
    if (tensor.device() != device || tensor.dtype() != kF32 || tensor.numel() != 15 || labrig::sum(tensor).item() != 15)
      return {"placement", State::missing,
              "a tensor that was asked for on " + device.str() + " is not what it should be",
              "report this: it is a fault of labrig"};
    text += (text.empty() ? "" : ", ") + device.str();
  }
  return {"placement", State::ok, "tensors lie where they were asked for: " + text, ""};
}

Finding toolkit() {
  const build::RunResult run = build::run_program({"nvcc", "--version"}, {});
  if (!run.succeeded())
    return {"cuda toolkit", State::ok, "nvcc is not in PATH; only builds of labrig itself with CUDA need it", ""};
  const std::size_t at = run.output.find("release ");
  return {"cuda toolkit", State::ok,
          at == std::string::npos ? first_line(run.output) : first_line(run.output.substr(at)), ""};
}

Finding driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  if (!std::getline(file, line)) return {"cuda driver", State::ok, "not loaded", ""};
  return {"cuda driver", State::ok, line, ""};
}

Finding memory() {
  constexpr long kEnoughMib = 2048;
  std::ifstream file("/proc/meminfo");
  long available_mib = 0;
  for (std::string key, rest; file >> key && std::getline(file, rest);)
    if (key == "MemAvailable:") available_mib = std::atol(rest.c_str()) / 1024;
  const std::string text = std::to_string(available_mib) + " MiB available";
  if (available_mib >= kEnoughMib) return {"memory", State::ok, text, ""};
  return {"memory", State::advice, text + "; compiling and grading side by side want 2 GiB",
          "close other programs, or grade one submission at a time"};
}

Finding cores() {
  const unsigned count = std::thread::hardware_concurrency();
  const std::string text = std::to_string(count) + (count == 1 ? " core" : " cores");
  if (count >= 2) return {"cores", State::ok, text, ""};
  return {"cores", State::advice, text + ": the worker and the simulated card take turns",
          "expect gradings to take twice as long"};
}

std::vector<Finding> examine(const Context& context) {
  std::vector<Finding> findings;
  findings.push_back(programs(context));
  try {
    const build::Installation installation = build::installation_at(context.root);
    findings.push_back(headers(installation));
    findings.push_back(find("compiler", [&] { return compiler(installation); }));
  } catch (const Error& error) {
    findings.push_back({"installation", State::missing, std::string(error.what()) + ": " + error.why(), error.fix()});
  }
  findings.push_back(cmake());
  findings.push_back(find("cache", [] { return cache(); }));
  findings.push_back(find("labs", [&] { return labs(context); }));
  findings.push_back(find("profiles", [] { return profiles(); }));
  findings.push_back(find("simulated card", [&] { return simulated_card(context); }));
  findings.push_back(find("cuda", [] { return cuda(); }));
  findings.push_back(find("placement", [] { return placement(); }));
  findings.push_back(card_access(context));
  findings.push_back(driver());
  findings.push_back(toolkit());
  findings.push_back(memory());
  findings.push_back(cores());
  return findings;
}

void print_json(const std::vector<Finding>& findings, bool fit) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    nlohmann::ordered_json row = {{"name", finding.name}, {"state", name_of(finding.state)}, {"text", finding.text}};
    if (!finding.fix.empty()) row["fix"] = finding.fix;
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json answer = {
      {"labrig", LABRIG_VERSION}, {"build_tag", plugin::kBuildTag}, {"fit", fit}, {"findings", rows}};
  print_answer(answer);
}

void print(const std::vector<Finding>& findings, bool fit) {
  std::printf("labrig %s, %s\n", LABRIG_VERSION, plugin::kBuildTag.data());
  for (const Finding& finding : findings) {
    std::printf("%-8s %-15s %s\n", name_of(finding.state), finding.name.c_str(), finding.text.c_str());
    if (!finding.fix.empty()) std::printf("%-24s fix: %s\n", "", finding.fix.c_str());
  }
  std::printf(fit ? "This machine is fit for labrig.\n" : "Something that labrig needs is missing.\n");
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("doctor", "Check that this machine has what labrig needs");
  command->footer("Exit codes: 0 fit, 2 usage, 4 something that is needed is missing\nExample: labrig doctor --json");
  add_json_flag(*command, context);
  command->callback([&context] {
    const std::vector<Finding> findings = examine(context);
    bool fit = true;
    for (const Finding& finding : findings) fit = fit && finding.state != State::missing;
    context.json ? print_json(findings, fit) : print(findings, fit);
    context.exit_code = fit ? kPassed : kUnfit;
  });
}

}  // namespace labrig::app
