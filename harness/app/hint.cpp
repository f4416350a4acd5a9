// labrig hint CHECK: the hints of one check, one more each time it is asked for: a nudge, the idea, nearly the answer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "grading.hpp"
#include "labrig/error.hpp"
#include "line.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

namespace {

struct Arguments {
  std::string check, folder = ".", lab;
  bool folder_given = false;
  int level = 1;
};

constexpr const char* kKinds[] = {"a nudge", "the idea", "nearly the answer"};

const spec::CheckSpec* find_check(const spec::LabSpec& lab, const std::string& id) {
  const auto found =
      std::find_if(lab.checks.begin(), lab.checks.end(), [&](const spec::CheckSpec& check) { return check.id == id; });
  return found == lab.checks.end() ? nullptr : &*found;
}

std::vector<std::string> ids_of(const spec::LabSpec& lab) {
  std::vector<std::string> ids;
  ids.reserve(lab.checks.size());
  for (const spec::CheckSpec& check : lab.checks) ids.push_back(check.id);
  return ids;
}

// --lab, else the lab of the folder, else the only lab that has a check of that name.
spec::LabSpec lab_for(const Context& context, const Arguments& arguments) {
  if (!arguments.lab.empty()) return spec::load_lab(context.lab(arguments.lab)).value();
  if (arguments.folder_given || fs::exists(fs::path(arguments.folder) / "CMakeLists.txt")) {
    try {
      return spec::load_lab(context.lab(lab_of(arguments.folder))).value();
    } catch (const Error&) {
      if (arguments.folder_given) throw;
    }
  }
  std::vector<spec::LabSpec> with;
  std::string known;
  std::vector<std::string> ids;
  for (const fs::path& folder : lab_folders(context)) {
    spec::LabSpec lab = spec::load_lab(folder).value();
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", lab.id, list_of(ids_of(lab)));
    for (const std::string& id : ids_of(lab)) ids.push_back(id);
    if (find_check(lab, arguments.check) != nullptr) with.push_back(std::move(lab));
  }
  if (with.size() == 1) return std::move(with.front());
  std::string names;
  for (const spec::LabSpec& lab : with) names += (names.empty() ? "" : ", ") + lab.id;
  throw Error("which-lab",
              with.empty() ? "no lab has a check '" + arguments.check + "'"
                           : "more than one lab has a check '" + arguments.check + "'",
              !with.empty()   ? names + " have one of that name"
              : known.empty() ? "no lab was found"
                              : "these are there: " + known,
              with.empty() ? guess_or(arguments.check, ids,
                                      "take one of these names, as the report shows them; `labrig labs` lists the labs")
                           : "name the lab: labrig hint " + arguments.check + " --lab " + with.front().id);
}

const spec::CheckSpec& check_of(const spec::LabSpec& lab, const std::string& id) {
  if (const spec::CheckSpec* check = find_check(lab, id)) return *check;
  const std::vector<std::string> ids = ids_of(lab);
  throw Error("unknown-check", "the lab " + lab.id + " has no check '" + id + "'", "its checks are " + list_of(ids),
              guess_or(id, ids, "take one of these names, as the report shows them"));
}

void run(const Context& context, const Arguments& arguments) {
  const spec::LabSpec lab = lab_for(context, arguments);
  const spec::CheckSpec& check = check_of(lab, arguments.check);
  const int count = static_cast<int>(check.hints.size());
  if (arguments.level > count)
    throw Error("no-such-hint", "the check " + check.id + " has no hint " + std::to_string(arguments.level),
                count == 0 ? "its lab gives none" : "it has " + std::to_string(count),
                count == 0 ? "read the handout: `labrig labs` says where it is" : "ask for a lower --level");
  const std::string& hint = check.hints[static_cast<std::size_t>(arguments.level - 1)];
  const std::string again = "labrig hint " + check.id + " --lab " + lab.id;
  const std::string next = arguments.level < count ? again + " --level " + std::to_string(arguments.level + 1) : "";
  if (context.json) {
    nlohmann::ordered_json answer = {{"lab", lab.id},   {"check", check.id}, {"level", arguments.level},
                                     {"levels", count}, {"hint", hint},      {"handout", nullptr},
                                     {"next", nullptr}};
    if (!check.handout.empty()) answer["handout"] = check.handout;
    if (!next.empty()) answer["next"] = next;
    print_answer(answer);
    return;
  }
  if (context.quiet) return;
  std::printf("%s: %s\nhint %d of %d, %s:\n  %s\n", check.id.c_str(), check.title_failed.c_str(), arguments.level,
              count, arguments.level <= 3 ? kKinds[arguments.level - 1] : "more", hint.c_str());
  if (!next.empty()) std::printf("more: %s\n", next.c_str());
  if (next.empty() && !check.handout.empty())
    std::printf("that was the last; the handout has more: section %s of %s\n", check.handout.c_str(),
                (lab.folder / "handout.html").string().c_str());
}

}  // namespace

void add_hint(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("hint", "A hint for a check that lost points, one step at a time");
  command->footer(
      "Exit codes: 0 done, 2 usage, or there is no such hint\nExample: labrig hint bytes-up --lab transfer-cost "
      "--level 2");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("CHECK", arguments->check, "The check's id, as a report shows it")->required();
  const CLI::Option* folder =
      command->add_option("DIR", arguments->folder, "Your folder, which says which lab it is (default: this one)");
  command->add_option("--lab", arguments->lab, "The lab's id")->type_name("ID");
  command->add_option("--level", arguments->level, "1: a nudge, 2: the idea, 3: nearly the answer")
      ->type_name("N")
      ->check(CLI::Range(1, 3));
  add_json_flag(*command, context);
  command->callback([arguments, folder, &context] {
    arguments->folder_given = folder->count() > 0;
    run(context, *arguments);
  });
}

}  // namespace labrig::app
