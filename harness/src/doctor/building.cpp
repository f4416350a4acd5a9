// Can an answer be compiled and loaded here? The one way to know is to do it.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "build/build_submission.hpp"
#include "doctor/installed.hpp"
#include "loader/climb.hpp"
#include "loader/inspection.hpp"
#include "spec/lab_spec.hpp"
#include "store/digest.hpp"

namespace labrig::doctor {
namespace fs = std::filesystem;
namespace {

// Takes away what was built for the trial.
class BuiltPlugin {
 public:
  explicit BuiltPlugin(fs::path plugin) : plugin_(std::move(plugin)) {}
  ~BuiltPlugin() {
    std::error_code ignored;
    fs::remove(plugin_, ignored);
    fs::remove(plugin_.string() + ".sha256", ignored);
  }
  BuiltPlugin(const BuiltPlugin&) = delete;
  BuiltPlugin& operator=(const BuiltPlugin&) = delete;

 private:
  fs::path plugin_;
};

fs::path lab_with_a_starter(const Places& places) {
  std::error_code ignored;
  for (const fs::path& folder : places.labs)
    if (fs::is_directory(folder / "starter", ignored)) return folder;
  return {};
}

// Nobody has compiled this text before, so that the cache cannot answer.
void make_unique(build::SubmissionSource& source) {
  std::string& text = source.files.at(0).second;
  text += fmt::format("\n// labrig doctor {}\n", store::random_token());
  source.hash = store::sha256_hex(text);
}

Check as_failure(const Error& error, Facts facts) {
  facts["code"] = error.code();
  return failed("build", {error.what(), error.why(), error.fix()}, std::move(facts));
}

}  // namespace

Check compiler_check(const build::Installation& installation) {
  const build::Compiler found = build::find_compiler(installation).value();
  return passed("compiler", found.version, {{"path", found.path}, {"version", found.version}});
}

Check build_check(const Places& places, const build::Installation& installation) {
  const fs::path folder = lab_with_a_starter(places);
  if (folder.empty()) return skipped("build", "no lab here has a starter to compile");
  const spec::LabSpec lab = spec::load_lab(folder).value();
  Facts facts = {{"lab", lab.id}};
  build::SubmissionSource source = build::read_submission(folder / "starter", lab.files).value();
  make_unique(source);
  const Result<build::BuiltSubmission> built = build::build_submission(source, folder, installation);
  if (!built) return as_failure(built.error(), facts);
  const BuiltPlugin trial(built.value().plugin);
  loader::Expectation expectation;
  expectation.lab_id = lab.id;
  const loader::Inspection inspection = loader::inspect(built.value().plugin, expectation);
  std::vector<loader::Rung> rungs = inspection.rungs;
  if (inspection.ok()) rungs = loader::climb_in_child(places.programs / "labrig-worker", built.value().plugin).rungs;
  const std::optional<Error> refusal = rungs.empty() ? std::nullopt : rungs.back().error;
  if (refusal) return as_failure(*refusal, facts);
  return passed("build", fmt::format("the starter of {} compiles and loads", lab.id), facts);
}

}  // namespace labrig::doctor
