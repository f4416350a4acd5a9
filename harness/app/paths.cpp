// Context: where labs, plugins and programs lie, and how an error is printed.
#include "paths.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "console.hpp"
#include "labrig/error.hpp"
#include "line.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

namespace {

void add_if_there(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) folders.push_back(fs::absolute(folder).lexically_normal());
}

void add_or_throw(std::vector<fs::path>& folders, const fs::path& folder, const std::string& asked_by) {
  const std::size_t before = folders.size();
  add_if_there(folders, folder);
  if (folders.size() == before)
    throw Error("no-such-folder", "there is no folder " + folder.string(), "it was given by " + asked_by,
                "give the folder that holds a folder for each lab, for example build/labs");
}

}  // namespace

Context make_context() {
  Context context;
  context.programs = fs::read_symlink("/proc/self/exe").parent_path();
  context.root = context.programs.parent_path();
  return context;
}

void find_labs(Context& context, const std::string& folder) {
  context.labs.clear();
  if (!folder.empty()) add_or_throw(context.labs, folder, "--labs");
  if (const char* list = std::getenv("LABRIG_LABS")) {
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ':');)
      if (!part.empty()) add_or_throw(context.labs, part, "LABRIG_LABS");
  }
  add_if_there(context.labs, context.root / "labs");
  add_if_there(context.labs, context.root / "share" / "labrig" / "labs");
}

fs::path Context::lab(const std::string& id) const {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const fs::path& folder : labs) {
    if (fs::is_regular_file(folder / id / "lab.toml", ignored)) return folder / id;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (fs::is_regular_file(entry.path() / "lab.toml", ignored)) ids.push_back(entry.path().filename().string());
  }
  if (ids.empty())
    throw Error("unknown-lab", "there is no lab '" + id + "'", "no folder with labs was found",
                "give the folder that holds them with --labs DIR");
  throw Error("unknown-lab", "there is no lab '" + id + "'", "the labs there are: " + list_of(ids),
              guess_or(id, ids, "use one of these ids"));
}

std::vector<fs::path> lab_folders(const Context& context) {
  std::vector<fs::path> folders;
  std::set<std::string> seen;
  for (const fs::path& place : context.labs) {
    std::vector<fs::path> here;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place, ignored))
      if (fs::is_regular_file(entry.path() / "lab.toml", ignored)) here.push_back(entry.path());
    std::sort(here.begin(), here.end());
    for (const fs::path& folder : here)
      if (seen.insert(folder.filename().string()).second) folders.push_back(folder);
  }
  return folders;
}

void add_json_flag(CLI::App& command, Context& context) {
  command.add_flag("--json", context.json, "Answer on stdout with JSON");
}

bool is_of_the_machine(const Error& error) {
  static const std::set<std::string> codes = {
      "no-compiler",      "cannot-compile",   "cannot-write",     "no-installation",   "worker-not-started",
      "card-not-started", "no-shared-memory", "no-address-space", "no-random-numbers", "supervisor-not-started"};
  return codes.contains(error.code());
}

void print_error(const Context& context, const Error& error) {
  std::fprintf(stderr, "%s\n", for_the_log(error.message()).c_str());
  if (!context.json) return;
  const nlohmann::ordered_json answer = {
      {"error", {{"code", error.code()}, {"what", error.what()}, {"why", error.why()}, {"fix", error.fix()}}}};
  print_answer(answer);
}

}  // namespace labrig::app
