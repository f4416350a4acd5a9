// labrig doctor: is this machine fit for labrig? One line a check; where something is wrong, why and what to do. A
// missing card is no failure: everything grades on the simulated one. Read next: ../src/doctor/README.md.
#include <sys/stat.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "build/build_submission.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "doctor/answer.hpp"
#include "doctor/card_cause.hpp"
#include "doctor/folders.hpp"
#include "doctor/installed.hpp"
#include "doctor/machine.hpp"
#include "doctor/placement.hpp"
#include "labrig/build_tag.hpp"

namespace labrig::app {

namespace fs = std::filesystem;

namespace {

using Checks = std::vector<doctor::Check>;

// Is labrig whole, and does it compile what students write?
void examine_installation(const Context& context, Checks& checks) {
  const doctor::Places places{context.programs, context.root, lab_folders(context)};
  checks.push_back(doctor::programs_check(places));
  checks.push_back(doctor::attempt("labs", [&] { return doctor::labs_check(places); }));
  checks.push_back(doctor::attempt("profiles", [] { return doctor::profiles_check(); }));
  try {
    const build::Installation installation = build::installation_at(context.root);
    checks.push_back(doctor::attempt("headers", [&] { return doctor::headers_check(installation); }));
    checks.push_back(doctor::attempt("compiler", [&] { return doctor::compiler_check(installation); }));
    checks.push_back(checks.back().status == doctor::Status::fail
                         ? doctor::skipped("build", "there is no compiler to build with")
                         : doctor::attempt("build", [&] { return doctor::build_check(places, installation); }));
  } catch (const Error& error) {
    checks.push_back(doctor::failed("headers", {error.what(), error.why(), error.fix()}, {{"code", error.code()}}));
    for (const char* id : {"compiler", "build"})
      checks.push_back(doctor::skipped(id, "the installation does not say how to compile"));
  }
  checks.push_back(doctor::cmake_check());
  checks.push_back(doctor::attempt("simulated-card", [&] { return doctor::simulated_card_check(places); }));
}

void examine_machine(const Context& context, const doctor::Host& host, Checks& checks) {
  const doctor::FolderFacts cache = doctor::folder_facts(build::cache_folder());
  std::error_code ignored;
  const fs::path temp = fs::temp_directory_path(ignored);
  const doctor::FolderFacts temporary = doctor::folder_facts(ignored ? fs::path(host.value("TMPDIR")) : temp);
  struct stat program{};
  ::stat(context.program("labrig").c_str(), &program);
  checks.push_back(doctor::folder_check("cache", cache, "XDG_CACHE_HOME", true));
  checks.push_back(doctor::folder_check("temp", temporary, "TMPDIR", false));
  checks.push_back(doctor::clock_check({std::time(nullptr), program.st_mtime, cache.clock_ahead_s}));
  checks.push_back(doctor::memory_check(host));
  checks.push_back(doctor::cores_check(host, doctor::usable_cores()));
  checks.push_back(doctor::locale_check(doctor::locale_facts(host)));
  checks.push_back(doctor::confinement_check(doctor::confinement_facts(host)));
}

void examine_cards(const Context& context, const doctor::Host& host, const std::string& expected, Checks& checks) {
  std::error_code ignored;
  const bool backend = fs::exists(context.root / "lib/liblabrig-cuda.so", ignored);
  const doctor::CardFacts facts = doctor::card_facts(host, backend);
  std::vector<std::string> unusable;
  for (const doctor::UnusableCard& card : facts.unusable) unusable.push_back(card.device);
  checks.push_back(doctor::card_check(facts));
  checks.push_back(doctor::compare(facts.versions));
  checks.push_back(doctor::card_memory(facts.memory));
  checks.push_back(doctor::toolkit_check());
  checks.push_back(doctor::attempt("placement", [&] { return doctor::placement(unusable); }));
  checks.push_back(doctor::device_check(expected));
}

void print_json(const Checks& checks) {
  const nlohmann::ordered_json answer = {{"schema", "labrig.doctor/1"},
                                         {"labrig", LABRIG_VERSION},
                                         {"build_tag", plugin::kBuildTag},
                                         {"fit", doctor::fit(checks)},
                                         {"checks", doctor::to_json(checks)}};
  print_answer(answer);
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("doctor", "Check that this machine has what labrig needs");
  command->footer(
      "Exit codes: 0 fit (warnings are no failure), 2 usage, 4 something that is needed is missing\n"
      "Example: labrig doctor --device cuda");
  auto expected = std::make_shared<std::string>();
  command->add_option("--device", *expected, "Fail unless this device is there: cuda, cuda:1, sim, cpu")
      ->type_name("DEVICE");
  add_json_flag(*command, context);
  command->callback([expected, &context] {
    if (!expected->empty()) static_cast<void>(Device(*expected));  // a name that cannot be read is a usage error
    const doctor::Host host;
    Checks checks;
    examine_installation(context, checks);
    examine_machine(context, host, checks);
    examine_cards(context, host, *expected, checks);
    if (context.json)
      print_json(checks);
    else
      std::printf("labrig %s, %s\n%s", LABRIG_VERSION, plugin::kBuildTag.data(), doctor::to_text(checks).c_str());
    context.exit_code = doctor::fit(checks) ? kPassed : kUnfit;
  });
}

}  // namespace labrig::app
