#include "ci_files.hpp"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "console.hpp"
#include "labrig/error.hpp"
#include "spec/lab_spec.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

std::string kit_file(const Context& context, const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& replaced) {
  const fs::path file = context.root / "share/labrig/kit" / name;
  const Result<std::string> read = store::read_file(file);
  if (!read)
    throw Error("no-installation", "there is no " + file.string(), read.error().why(),
                "run labrig from its build folder or from an installed prefix, not from a copy of the program alone");
  std::string text = read.value();
  for (const auto& [key, value] : replaced) {
    const std::string mark = "@" + key + "@";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

fs::path workflow_path(std::string_view system) {
  return system == "github" ? ".github/workflows/labrig.yml" : ".gitlab-ci.yml";
}

std::string ci_file_for(const std::vector<std::pair<std::string, std::string>>& submissions) {
  std::string text =
      "# What `labrig ci` grades. docs/ci.md of labrig explains the keys.\n"
      "schema = 1\n"
      "formats = [\"html\", \"json\", \"junit\"]\n"
      "out = \"labrig-reports\"\n";
  for (const auto& [path, lab] : submissions)
    text += "\n[[submission]]\npath = \"" + path + "\"\nlab = \"" + lab + "\"\n";
  return text;
}

void write_ci_files(Context& context, const std::string& system) {
  // Folders that are called like a lab hold an answer to it; without one there is a line to be changed.
  std::vector<std::pair<std::string, std::string>> submissions;
  std::string any;
  for (const fs::path& folder : lab_folders(context)) {
    const std::string id = spec::load_lab(folder).value().id;
    if (fs::is_directory(id)) submissions.emplace_back(id, id);
    if (any.empty()) any = id;
  }
  if (submissions.empty()) submissions.emplace_back("my-answer", any);
  std::vector<std::string> written, kept;
  const auto write = [&](const fs::path& path, const std::string& text) {
    (store::write_atomically(path, text, store::Existing::keep) ? written : kept).push_back(path.string());
  };
  write(workflow_path(system), kit_file(context, "ci/" + system + ".yml"));
  write("labrig.toml", ci_file_for(submissions));
  if (context.json) {
    print_answer(nlohmann::ordered_json{{"written", written}, {"kept", kept}});
    return;
  }
  for (const std::string& path : written) std::printf("written: %s\n", path.c_str());
  for (const std::string& path : kept) std::printf("kept as it is: %s\n", path.c_str());
  if (!context.quiet)
    std::printf("next: look at labrig.toml; the workflow runs ./labrig, which the course's student kit brings\n");
}

}  // namespace labrig::app
