// labrig kit student --out DIR: what a course hands out. Nothing in it tells a solution, a flawed variant or the range
// of a hidden size; the reference's figures of visible cases are in it, so that every check can be decided.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "ci_files.hpp"
#include "console.hpp"
#include "kit/product.hpp"
#include "kit_parts.hpp"
#include "labrig/error.hpp"
#include "spec/plan.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

namespace {

// The folder in which a student works: the starter, the handout, and what an editor needs.
void write_answer_folder(const Context& context, const spec::LabSpec& lab, const fs::path& folder) {
  if (!fs::is_directory(lab.folder / "starter"))
    throw Error("no-starter", "the lab `" + lab.id + "` has no starter",
                (lab.folder / "starter").string() + " is missing", "build the lab again");
  fs::copy(lab.folder / "starter", folder, fs::copy_options::recursive);
  if (fs::exists(lab.folder / "handout.html")) fs::copy_file(lab.folder / "handout.html", folder / "handout.html");
  std::string files;
  for (const std::string& file : lab.files) files += (files.empty() ? "" : " ") + file;
  if (!fs::exists(folder / "CMakeLists.txt"))
    write_file(folder / "CMakeLists.txt",
               kit_file(context, "student/CMakeLists.txt", {{"LAB", lab.id}, {"FILES", files}}));
  write_file(folder / "compile_flags.txt", "-std=c++20\n-I../program/include\n-I../program/labs/" + lab.id + "\n");
}

void write_readme(const Context& context, const std::vector<spec::LabSpec>& labs, const fs::path& kit) {
  std::string rows;
  for (const spec::LabSpec& lab : labs)
    rows += fmt::format("{0}| `{1}/` | {2} | `{1}/handout.html` |", rows.empty() ? "" : "\n", lab.id, lab.title);
  write_file(kit / "README.md", kit_file(context, "student/README.md", {{"FIRST", labs.front().id}, {"LABS", rows}}));
}

void write_ci(const Context& context, const std::vector<spec::LabSpec>& labs, const fs::path& kit) {
  std::vector<std::pair<std::string, std::string>> submissions;
  for (const spec::LabSpec& lab : labs) submissions.emplace_back(lab.id, lab.id);
  write_file(kit / "labrig.toml", ci_file_for(submissions));
  for (const char* system : {"github", "gitlab"})
    write_file(kit / workflow_path(system), kit_file(context, std::string("ci/") + system + ".yml"));
}

void refuse_what_is_there(const fs::path& out) {
  std::error_code ignored;
  if (!fs::exists(out, ignored) || (fs::is_directory(out, ignored) && fs::is_empty(out, ignored))) return;
  throw Error("would-overwrite", out.string() + " is there already, and not empty",
              "labrig kit never overwrites a file; nothing was written", "give a folder that is new or empty");
}

}  // namespace

void make_student_kit(Context& context, const KitArguments& arguments) {
  const fs::path out = arguments.out;
  refuse_what_is_there(out);
  const std::vector<spec::LabSpec> labs = labs_for_kit(context, arguments.labs);
  StagedFolder kit(out);
  kit::copy_product(context.root, kit.path() / "program", {.cuda = true});
  for (const spec::LabSpec& lab : labs) {
    const std::string figures = figures_for_kit(context, lab, spec::kPublicSecret, kit::Audience::students);
    kit::copy_lab(lab, kit.path() / "program/labs" / lab.id, kit::Audience::students, figures);
    write_answer_folder(context, lab, kit.path() / lab.id);
  }
  write_readme(context, labs, kit.path());
  write_ci(context, labs, kit.path());
  write_file(kit.path() / "setup.sh", kit_file(context, "student/setup.sh"), true);
  write_file(kit.path() / "labrig", kit_file(context, "student/labrig"), true);
  kit.move_to(out);

  const std::uintmax_t bytes = bytes_below(out);
  if (context.json) {
    nlohmann::ordered_json answer = {{"folder", out.string()}, {"bytes", bytes}, {"labs", nlohmann::json::array()}};
    for (const spec::LabSpec& lab : labs) answer["labs"].push_back(lab.id);
    print_answer(answer);
  } else if (!context.quiet) {
    std::printf("%s is ready: %zu lab%s, %.1f MiB\nnext: its README.md is what your students read first\n",
                out.string().c_str(), labs.size(), labs.size() == 1 ? "" : "s", static_cast<double>(bytes) / 0x1p20);
  }
}

}  // namespace labrig::app
