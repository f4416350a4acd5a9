// labrig new LAB DIR: a folder to start from. Copies the lab's starter and adds a CMakeLists.txt for the student's
// editor; never overwrites anything.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "labrig/error.hpp"
#include "spec/lab_spec.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::app {

namespace fs = std::filesystem;

namespace {

using Files = std::vector<std::pair<fs::path, std::string>>;  // relative path and content

// For editors and builds of one's own.
std::string cmake_lists(const Context& context, const spec::LabSpec& lab, const fs::path& lab_folder) {
  std::string sources;
  for (const std::string& file : lab.files) sources += " " + file;
  return fmt::format(R"(# For your editor and your own builds; labrig itself reads nothing of it but the lab's id.
#   cmake -S . -B build && cmake --build build    makes build/plugins/{lab}/submission.labrig.so
cmake_minimum_required(VERSION 3.25)
project(submission LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(LABRIG_LABS "{labs}" CACHE PATH "Folder that holds the lab")
find_package(labrig REQUIRED HINTS "{package}")
labrig_add_submission(submission LAB {lab} SOURCES{sources})
)",
                     fmt::arg("lab", lab.id), fmt::arg("labs", lab_folder.parent_path().string()),
                     fmt::arg("package", (context.root / "lib/cmake/labrig").string()), fmt::arg("sources", sources));
}

Files starter_files(const Context& context, const spec::LabSpec& lab, const fs::path& lab_folder) {
  const fs::path starter = lab_folder / "starter";
  Files files;
  bool has_cmake = false;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(starter, none)) {
    if (!entry.is_regular_file()) continue;
    files.emplace_back(entry.path().lexically_relative(starter), store::read_file(entry.path()).value());
    has_cmake = has_cmake || files.back().first == "CMakeLists.txt";
  }
  if (files.empty())
    throw Error("no-starter", "the lab `" + lab.id + "` has no starter", starter.string() + " is missing or empty",
                "build the lab again, or write the files yourself: the lab reads " + lab.files.front());
  if (!has_cmake) files.emplace_back("CMakeLists.txt", cmake_lists(context, lab, lab_folder));
  std::sort(files.begin(), files.end());
  return files;
}

void refuse_to_overwrite(const fs::path& folder, const Files& files) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    throw Error("would-overwrite", folder.string() + " is there already, and is not a folder",
                "labrig new makes a folder", "give another name");
  for (const auto& [name, content] : files)
    if (fs::exists(fs::symlink_status(folder / name, ignored)))
      throw Error("would-overwrite", (folder / name).string() + " is there already",
                  "labrig new never overwrites a file; nothing was written", "give a folder that is new or empty");
}

// A lab that labrig does not find by itself is named by its folder.
std::string check_command(const Context& context, const fs::path& folder, const fs::path& lab_folder) {
  const fs::path labs = lab_folder.parent_path();
  const bool own = labs == context.root / "labs" || labs == context.root / "share/labrig/labs";
  return (own ? "labrig check " : "labrig --labs " + labs.string() + " check ") + folder.string();
}

void make_folder(const Context& context, const std::string& lab_id, const fs::path& folder) {
  const fs::path lab_folder = context.lab(lab_id);
  const spec::LabSpec lab = spec::load_lab(lab_folder).value();
  const Files files = starter_files(context, lab, lab_folder);
  refuse_to_overwrite(folder, files);
  for (const auto& [name, content] : files)
    if (!store::write_atomically(folder / name, content, store::Existing::keep))
      throw Error("would-overwrite", (folder / name).string() + " appeared while labrig was writing",
                  "another program writes into the same folder", "give a folder that is new or empty");
  const std::string handout = (lab_folder / "handout.html").string(), first = (folder / lab.files.front()).string();
  const std::string check = check_command(context, folder, lab_folder);
  if (context.json) {
    nlohmann::ordered_json answer = {{"lab", lab.id},
                                     {"folder", folder.string()},
                                     {"files", nlohmann::json::array()},
                                     {"handout", handout},
                                     {"next", check}};
    for (const auto& [name, content] : files) answer["files"].push_back(name.string());
    print_answer(answer);
    return;
  }
  std::printf("%s is ready: %s\n", folder.string().c_str(), lab.title.c_str());
  for (const auto& [name, content] : files) std::printf("  %s\n", name.string().c_str());
  std::printf("next:\n  read  %s\n  and   %s\n  edit  %s\n  run   %s\n", handout.c_str(),
              (lab_folder / "interface.hpp").string().c_str(), first.c_str(), check.c_str());
}

}  // namespace

void add_new(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("new", "Make a folder with a lab's starter");
  command->footer(
      "Exit codes: 0 done, 2 usage, or something is there already\nExample: labrig new transfer-cost my-solution");
  struct Arguments {
    std::string lab, folder;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("LAB", arguments->lab, "The lab's id; `labrig labs` lists them")->required();
  command->add_option("DIR", arguments->folder, "The folder to make")->required();
  add_json_flag(*command, context);
  command->callback([arguments, &context] { make_folder(context, arguments->lab, arguments->folder); });
}

}  // namespace labrig::app
