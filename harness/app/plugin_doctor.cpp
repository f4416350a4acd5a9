// labrig plugin doctor PATH: climbs the loading ladder with one plugin and says how far it came. The file alone is read
// here; from `load` on a worker process does it. Read next: ../src/loader/inspection.hpp.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "labrig/error.hpp"
#include "loader/climb.hpp"
#include "loader/inspection.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::app {

namespace {

using Json = nlohmann::ordered_json;

struct Examination {
  loader::Inspection inspection;
  loader::ClimbResult climb;  // empty when the inspection failed

  bool ok() const { return inspection.ok() && climb.rungs.back().ok; }
};

Examination examine(const Context& context, const std::string& plugin, const std::string& lab_id) {
  loader::Expectation expectation;
  if (!lab_id.empty()) {
    const spec::LabSpec lab = spec::load_lab(context.lab(lab_id)).value();
    expectation.lab_id = lab.id;
    expectation.forbid = lab.forbidden_imports;
  }
  Examination result{loader::inspect(plugin, expectation), {}};
  if (result.inspection.ok()) result.climb = loader::climb_in_child(context.program("labrig-worker"), plugin);
  return result;
}

std::vector<loader::Rung> all_rungs(const Examination& examination) {
  std::vector<loader::Rung> rungs = examination.inspection.rungs;
  rungs.insert(rungs.end(), examination.climb.rungs.begin(), examination.climb.rungs.end());
  return rungs;
}

Json to_json(const Examination& examination, const std::string& plugin) {
  Json rungs = Json::array();
  for (const loader::Rung& rung : all_rungs(examination)) {
    Json row = {{"rung", rung.name}, {"ok", rung.ok}, {"detail", rung.detail}};
    if (rung.error)
      row["error"] = {{"code", rung.error->code()},
                      {"what", rung.error->what()},
                      {"why", rung.error->why()},
                      {"fix", rung.error->fix()}};
    rungs.push_back(std::move(row));
  }
  const loader::Manifest& manifest = examination.inspection.manifest;
  return {{"plugin", plugin},
          {"ok", examination.ok()},
          {"rungs", std::move(rungs)},
          {"manifest",
           {{"kind", manifest.kind},
            {"lab", manifest.lab},
            {"abi", manifest.abi},
            {"build", manifest.build},
            {"compiler", manifest.compiler}}},
          {"notes", examination.inspection.notes()},
          {"output", examination.climb.output}};
}

void print(const Examination& examination) {
  for (const loader::Rung& rung : all_rungs(examination)) {
    std::printf("%-8s %-9s %s\n", rung.ok ? "ok" : "FAILED", rung.name.c_str(), rung.detail.c_str());
    if (rung.error)
      std::printf("           why: %s\n           fix: %s\n", rung.error->why().c_str(), rung.error->fix().c_str());
  }
  for (const std::string& note : examination.inspection.notes()) std::printf("note     %s\n", note.c_str());
  if (!examination.climb.output.empty()) std::printf("the plugin printed:\n%s\n", examination.climb.output.c_str());
  std::printf(examination.ok() ? "This plugin can be loaded and used.\n"
              : examination.inspection.ok()
                  ? "This plugin fails while it is loaded: graded, it gets 0 points with this reason.\n"
                  : "This plugin is refused: none of its code was run.\n");
}

}  // namespace

void add_plugin_doctor(CLI::App& app, Context& context) {
  CLI::App* plugin = app.add_subcommand("plugin", "Look at built plugins");
  plugin->require_subcommand(1);
  plugin->fallthrough();
  plugin->footer("Example: labrig plugin doctor build/plugins/transfer-cost/solution.labrig.so");
  CLI::App* command = plugin->add_subcommand("doctor", "Climb the loading ladder with a plugin and say what is wrong");
  command->footer(
      "Exit codes: 0 nothing is wrong, 1 failed from `load` on, 2 usage, 3 refused before any of its code ran\n"
      "Example: labrig plugin doctor build/plugins/transfer-cost/solution.labrig.so --lab transfer-cost");
  struct Arguments {
    std::string path, lab;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("PATH", arguments->path, "The plugin: a .labrig.so")->required();
  command->add_option("--lab", arguments->lab, "Also check that it is for this lab, and uses nothing the lab forbids")
      ->type_name("ID");
  add_json_flag(*command, context);
  command->callback([arguments, &context] {
    const Examination examination = examine(context, arguments->path, arguments->lab);
    if (context.json)
      print_answer(to_json(examination, arguments->path));
    else
      print(examination);
    context.exit_code = examination.ok() ? kPassed : examination.inspection.ok() ? kBelowPassMark : kRefused;
  });
}

}  // namespace labrig::app
