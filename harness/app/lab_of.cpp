// Which lab a submission is for.
#include <regex>

#include "grading.hpp"
#include "loader/inspection.hpp"
#include "store/digest.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

std::string lab_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error("no-such-submission", "there is nothing at " + path.string(), "no file and no folder has that name",
                "check the spelling; `labrig new LAB DIR` makes a folder to start from");
  if (fs::is_regular_file(path, ignored)) {
    const std::string lab = loader::inspect(path, {LABRIG_SUBMISSION_KIND, "", {}}).manifest.lab;
    if (!lab.empty()) return lab;
    throw Error("which-lab", "labrig cannot tell which lab " + path.string() + " is for",
                "it is a file, but no plugin that names its lab",
                "give the folder that holds it, or a built .labrig.so");
  }
  const Result<std::string> text = store::read_file(path / "CMakeLists.txt");
  std::smatch match;
  static const std::regex pattern(R"(\bLAB\s+([a-z0-9-]+))");
  if (text && std::regex_search(text.value(), match, pattern)) return match[1];
  throw Error("which-lab", "labrig cannot tell which lab " + path.string() + " is for",
              "it has no CMakeLists.txt with a line labrig_add_submission(… LAB <id> …)",
              "name the lab: labrig check " + path.string() + " --lab ID");
}

}  // namespace labrig::app
