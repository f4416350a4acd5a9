// The sub-commands of `labrig`, one file each, and what they share: where things lie and how to answer. main.cpp builds
// one Context and passes it down; a sub-command adds itself to the parser and leaves its exit code in the context.
// Read next: main.cpp (the order of the commands), paths.hpp (where labs are looked for).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}
namespace labrig {
class Error;
}

namespace labrig::app {

enum ExitCode : int {
  kPassed = 0,         // reached the pass mark, or the command did what it says
  kBelowPassMark = 1,  // graded, below it
  kUsage = 2,          // usage or configuration
  kRefused = 3,        // refused before any of the submission's code ran: build, or a rung before `load`
  kUnfit = 4,          // the environment is unfit
  kFault = 5,          // the harness failed
  kInterrupted = 130,
};

struct Context {
  std::filesystem::path programs;  // the folder of this program: <root>/bin
  std::filesystem::path root;      // what was built or installed: bin, lib, include, labs, plugins, profiles
  // Folders that hold labs, in the order in which they are searched: --labs, LABRIG_LABS, <root>/labs,
  // <root>/share/labrig/labs. Those that do not exist are left out. Complete once the command line is parsed.
  std::vector<std::filesystem::path> labs;
  bool json = false;   // answer on stdout with JSON
  bool quiet = false;  // no progress, no verdict on the console
  int exit_code = kPassed;

  std::filesystem::path program(const std::string& name) const { return programs / name; }
  // The folder of a lab. Throws Error `unknown-lab`, which lists the labs there are.
  std::filesystem::path lab(const std::string& id) const;
  // Where the built plugins of a lab lie: <root>/plugins/<lab>.
  std::filesystem::path plugins(const std::string& lab_id) const { return root / "plugins" / lab_id; }
};

// The folder of every lab, each once: the first place that has it wins, as in Context::lab.
std::vector<std::filesystem::path> lab_folders(const Context& context);

// Adds --json to a sub-command.
void add_json_flag(CLI::App& command, Context& context);
// The three lines on stderr; with --json an object {"error": {code, what, why, fix}} on stdout.
void print_error(const Context& context, const Error& error);

// Whether the error is one of the machine (no compiler, no room on the disk), not of the command or of a submission.
bool is_of_the_machine(const Error& error);

// Each adds its sub-command. What it captures by reference lives as long as `context`. An Error that leaves the
// command's callback is printed by main and ends the program with kUnfit when it is of the machine, else with kUsage.
void add_labs(CLI::App& app, Context& context);              // labs.cpp: labrig labs
void add_new(CLI::App& app, Context& context);               // new.cpp: labrig new LAB DIR
void add_check(CLI::App& app, Context& context);             // check.cpp: labrig check DIR
void add_completions(CLI::App& app, Context& context);       // completions.cpp: labrig completions SHELL
void add_complete(CLI::App& app, Context& context);          // completions.cpp: what shells ask
void add_man(CLI::App& app, Context& context);               // completions.cpp: labrig man
void add_hint(CLI::App& app, Context& context);              // hint.cpp: labrig hint CHECK
void add_grade(CLI::App& app, Context& context);             // grade.cpp: labrig grade PATH --lab ID
void add_plugin_doctor(CLI::App& app, Context& context);     // plugin_doctor.cpp: labrig plugin doctor PATH
void add_doctor(CLI::App& app, Context& context);            // doctor.cpp: labrig doctor
void add_plan(CLI::App& app, Context& context);              // plan.cpp: labrig plan MODEL.toml
void add_bench(CLI::App& app, Context& context);             // bench.cpp: labrig bench crossover|copies
void add_report(CLI::App& app, Context& context);            // report.cpp: labrig report index DIR
void add_report_render(CLI::App& report, Context& context);  // report_render.cpp: labrig report render FILE
void add_triage(CLI::App& app, Context& context);            // triage.cpp: labrig triage [FILE]
void add_conform(CLI::App& app, Context& context);           // conform.cpp: labrig conform KIND FILE
void add_explain(CLI::App& app, Context& context);           // explain.cpp: labrig explain TEXT
void add_ci(CLI::App& app, Context& context);                // ci.cpp: labrig ci
void add_kit(CLI::App& app, Context& context);               // kit.cpp: labrig kit student|gradescope

}  // namespace labrig::app
