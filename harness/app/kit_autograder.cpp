// labrig kit autograde: what the Gradescope kit's run_autograder calls. Results are rewritten as cases end, because a
// container that runs out of time otherwise leaves nothing.
#include <nlohmann/json.hpp>
#include <regex>

#include "formats.hpp"
#include "grading.hpp"
#include "kit_parts.hpp"
#include "labrig/error.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Upload {
  spec::LabSpec lab;
  fs::path folder;
};

bool has_files(const fs::path& folder, const spec::LabSpec& lab) {
  std::error_code ignored;
  for (const std::string& file : lab.files)
    if (!fs::is_regular_file(folder / file, ignored)) return false;
  return true;
}

// Students upload files, or a zip that holds their folder: then it is the one folder that has the files.
fs::path folder_of(const fs::path& submission, const spec::LabSpec& lab) {
  if (has_files(submission, lab)) return submission;
  std::vector<fs::path> fitting;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(submission, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored) && has_files(entry.path(), lab))
      fitting.push_back(entry.path());
  return fitting.size() == 1 ? fitting.front() : submission;
}

// What the line LAB of a CMakeLists.txt says; empty without one.
std::string lab_named_in(const fs::path& folder) {
  const Result<std::string> text = store::read_file(folder / "CMakeLists.txt");
  std::smatch match;
  static const std::regex pattern(R"(\bLAB\s+([a-z0-9-]+))");
  return text && std::regex_search(text.value(), match, pattern) ? std::string(match[1]) : std::string();
}

// A kit of one lab is clear. In one of several the CMakeLists.txt says it, or the name of the folder.
std::optional<Upload> find_upload(const std::vector<spec::LabSpec>& labs, const fs::path& submission) {
  if (labs.size() == 1) return Upload{labs.front(), folder_of(submission, labs.front())};
  for (const spec::LabSpec& lab : labs) {
    const fs::path folder = folder_of(submission, lab);
    if (lab_named_in(folder) == lab.id) return Upload{lab, folder};
  }
  for (const spec::LabSpec& lab : labs)
    if (has_files(submission / lab.id, lab)) return Upload{lab, submission / lab.id};
  return std::nullopt;
}

std::string which_lab(const std::vector<spec::LabSpec>& labs) {
  std::string text =
      "Nothing was graded: it cannot be told which lab this answers. Upload your whole folder, with its "
      "CMakeLists.txt, or call it by the lab's name:";
  for (const spec::LabSpec& lab : labs) text += " " + lab.id;
  return Json{{"score", 0}, {"output", text}, {"output_format", "text"}}.dump(1) + "\n";
}

}  // namespace

void autograde(Context& context, const fs::path& root, const std::string& secret_file) {
  const fs::path results = root / "results/results.json";
  const auto write = [&](const std::string& text) { store::write_atomically(results, text, store::Existing::replace); };
  const std::vector<spec::LabSpec> labs = labs_for_kit(context, {});
  const std::optional<Upload> upload = find_upload(labs, root / "submission");
  if (!upload) {
    write(which_lab(labs));
    context.exit_code = kRefused;
    return;
  }
  RunOptions options;
  options.jobs = 1;  // Gradescope's smallest container has half a processor and 768 MB, whatever the machine shows
  if (!secret_file.empty()) options.plan.secret = read_secret(secret_file);
  const Submitted submitted = take_submission(context, upload->lab, upload->folder);
  options.plan.submission_hash = submitted.facts.hash;
  options.so_far = [&](const Json& report, std::size_t finished, std::size_t total) {
    write(reports::render_gradescope_partial(nlohmann::json(report), finished, total));
  };
  const std::optional<Json> report = run_and_grade(context, upload->lab, submitted, options);
  if (!report) {
    context.exit_code = kInterrupted;  // what was known stays
    return;
  }
  write(reports::render(reports::Format::gradescope, nlohmann::json(*report)));
  context.exit_code = exit_code_of(*report, submitted);
}

}  // namespace labrig::app
