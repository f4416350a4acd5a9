#include "loader/climb.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "build/run_program.hpp"
#include "loader/loaded_plugin.hpp"

namespace labrig::loader {

using nlohmann::json;

namespace {

constexpr int kWallMs = 20'000, kCpuSeconds = 10;

void write_line(int descriptor, const json& line) {
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  [[maybe_unused]] const ssize_t ignored = write(descriptor, text.data(), text.size());
}

// The child ended without a word about the rung that it had begun.
Rung broken_off(const std::string& rung, const build::RunResult& run) {
  const bool exited = run.signal == 0 && !run.timed_out;
  const std::string what = rung == "load" ? "the process ended while the plugin was being loaded"
                                          : fmt::format("the process ended in the plugin's {}()", rung);
  const std::string why =
      run.timed_out ? fmt::format("it was not done after {} s and was stopped", kWallMs / 1000)
      : exited      ? fmt::format("the plugin ended it with {}: exit(), _exit() or the like was called", run.ending())
                    : "it crashed with " + run.ending();
  const std::string fix =
      rung == "load"
          ? "look at the constructors of global and static objects: they run when the plugin is loaded, and should "
            "do nothing that can fail"
      : rung == "destroy" ? "look at the destructors of your class and of its members"
                          : "look at what runs there: the constructors of your class and of its members";
  const Error error("plugin-" + rung, what, why, fix);
  return {rung, false, error.what(), error};
}

}  // namespace

int climb_main(const std::filesystem::path& plugin, int descriptor) {
  std::string current = "load";
  LadderObserver observer;
  observer.begun = [&](const char* rung) { write_line(descriptor, {{"begun", current = rung}}); };
  observer.reached = [&](const char* rung, const std::string& detail) {
    write_line(descriptor, {{"rung", rung}, {"ok", true}, {"detail", detail}});
  };
  try {
    LoadedPlugin loaded(plugin, {}, observer);
    observer.begun("destroy");
    loaded.destroy();
    observer.reached("destroy", "the object is gone");
    return 0;
  } catch (const Error& error) {
    write_line(
        descriptor,
        {{"rung", current},
         {"ok", false},
         {"error", {{"code", error.code()}, {"what", error.what()}, {"why", error.why()}, {"fix", error.fix()}}}});
    return 1;
  }
}

ClimbResult climb_in_child(const std::filesystem::path& worker, const std::filesystem::path& plugin) {
  build::RunOptions options;
  options.wall_ms = kWallMs;
  options.cpu_s = kCpuSeconds;
  options.channel = true;
  const build::RunResult run =
      build::run_program({worker.string(), "--climb", std::filesystem::absolute(plugin).string()}, options);
  if (!run.started)
    throw Error("worker-not-started", "the program labrig-worker could not be started",
                fmt::format("{} is missing or may not be run", worker.string()),
                "build or install labrig as a whole: its programs lie beside each other in bin/");

  ClimbResult result;
  result.output = run.output;
  std::string begun = "load";
  std::istringstream lines(run.channel);
  for (std::string text; std::getline(lines, text);) {
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object()) continue;
    if (line.contains("begun")) begun = line.value("begun", "");
    if (!line.contains("rung")) continue;
    Rung rung{line.value("rung", ""), line.value("ok", false), line.value("detail", ""), std::nullopt};
    if (!rung.ok) {
      const json error = line.value("error", json::object());
      rung.error =
          Error(error.value("code", ""), error.value("what", ""), error.value("why", ""), error.value("fix", ""));
      rung.detail = rung.error->what();
    }
    result.rungs.push_back(std::move(rung));
    begun.clear();
  }
  const bool over = !result.rungs.empty() && (!result.rungs.back().ok || result.rungs.back().name == "destroy");
  if (!over) result.rungs.push_back(broken_off(begun.empty() ? "load" : begun, run));
  return result;
}

}  // namespace labrig::loader
