// The commands that look at plugins and folders, as a user runs them: exit codes and JSON.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "build/run_program.hpp"
#include "report_schema.hpp"

namespace {

namespace fs = std::filesystem;
using labrig::build::run_program;
using labrig::build::RunResult;

RunResult labrig_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {LABRIG_PROGRAM, "--labs", LABRIG_TEMPLATE_DIR "/labs"});
  return run_program(arguments, {});
}

std::string broken(const std::string& name) { return std::string(LABRIG_BROKEN_DIR) + "/" + name + ".labrig.so"; }

// A folder that is gone after the test.
class Scratch {
 public:
  Scratch() {
    std::string name = fs::temp_directory_path() / "labrig-test-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Scratch() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

TEST(PluginDoctor, ExitsZeroWhenNothingIsWrong) {
  const RunResult run = labrig_command({"plugin", "doctor", broken("fine"), "--lab", "scale"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("ok       create"), std::string::npos) << run.output;
}

TEST(PluginDoctor, ExitsThreeForAPluginThatIsRefused) {
  const RunResult run = labrig_command({"plugin", "doctor", broken("no_manifest")});
  EXPECT_EQ(run.exit_code, 3) << run.output;
  EXPECT_NE(run.output.find("fix: "), std::string::npos) << run.output;
}

TEST(PluginDoctor, ExitsOneForAPluginThatFailsWhileItRuns) {
  EXPECT_EQ(labrig_command({"plugin", "doctor", broken("create_throws")}).exit_code, 1);
  EXPECT_EQ(labrig_command({"plugin", "doctor", broken("exits_while_loading")}).exit_code, 1);
}

TEST(PluginDoctor, ExitsTwoWithoutAPath) { EXPECT_EQ(labrig_command({"plugin", "doctor"}).exit_code, 2); }

TEST(PluginDoctor, AnswersInJson) {
  const RunResult run = labrig_command({"plugin", "doctor", broken("wrong_lab"), "--lab", "scale", "--json"});
  EXPECT_EQ(run.exit_code, 3);
  const nlohmann::json answer = nlohmann::json::parse(run.output);
  EXPECT_FALSE(answer.at("ok"));
  EXPECT_EQ(answer.at("manifest").at("lab"), "another-lab");
  EXPECT_EQ(answer.at("rungs").back().at("error").at("code"), "plugin-lab");
}

TEST(New, MakesAFolderAndOverwritesNothing) {
  const Scratch scratch;
  const std::string folder = scratch / "mine";
  const RunResult first = labrig_command({"new", "scale", folder});
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_TRUE(fs::exists(folder + "/submission.cpp"));
  EXPECT_TRUE(fs::exists(folder + "/CMakeLists.txt"));
  std::ofstream(folder + "/submission.cpp") << "mine";
  const RunResult second = labrig_command({"new", "scale", folder});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_NE(second.output.find("never overwrites"), std::string::npos) << second.output;
  EXPECT_EQ(fs::file_size(folder + "/submission.cpp"), 4u);
}

// A variable of this process, and so of the programs it starts, until the scope ends.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

nlohmann::json examined(int expected_exit_code, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"doctor", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult run = labrig_command(arguments);
  EXPECT_EQ(run.exit_code, expected_exit_code) << run.output;
  nlohmann::json answer = nlohmann::json::parse(run.output, nullptr, false);
  EXPECT_EQ(labrig::test::problems(answer, LABRIG_DOCTOR_SCHEMA), "") << run.output;
  EXPECT_EQ(answer.at("fit"), expected_exit_code == 0);
  return answer;
}

nlohmann::json check(const nlohmann::json& answer, const std::string& id) {
  for (const nlohmann::json& row : answer.at("checks"))
    if (row.at("id") == id) return row;
  ADD_FAILURE() << "there is no check " << id;
  return {};
}

TEST(Doctor, FindsThisMachineFit) {
  const nlohmann::json answer = examined(0);
  EXPECT_EQ(check(answer, "build").at("status"), "ok");
  EXPECT_EQ(check(answer, "placement").at("facts").at("devices").at(1).at("device"), "sim:0");
  std::set<std::string> ids;
  for (const nlohmann::json& row : answer.at("checks")) EXPECT_TRUE(ids.insert(row.at("id")).second) << row;
}

TEST(Doctor, TheSchemaRefusesAWarningWithoutItsFix) {
  nlohmann::json answer = examined(0);
  for (nlohmann::json& row : answer.at("checks")) {
    if (row.at("id") == "clock") row["status"] = "warn";
  }
  EXPECT_NE(labrig::test::problems(answer, LABRIG_DOCTOR_SCHEMA), "");
}

TEST(Doctor, SaysOneThingOfCardsAndEndsWithWhereItIsGraded) {
  const Variable hidden("CUDA_VISIBLE_DEVICES", "");
  const RunResult run = labrig_command({"doctor"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("everything is graded on the simulated card"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("nothing stands between"), std::string::npos) << run.output;
  EXPECT_EQ(check(examined(0), "card").at("facts").at("usable"), 0);
}

TEST(Doctor, APassingCheckIsOneLine) {
  std::istringstream lines(labrig_command({"doctor"}).output);
  std::string line, before;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.starts_with(" ")) EXPECT_FALSE(before.starts_with("ok") || before.starts_with("skipped")) << before;
    if (!line.starts_with(" ")) before = line;
  }
}

TEST(Doctor, SaysThatTheCompilerIsMissingWithExitFour) {
  const Variable compiler("LABRIG_CXX", "/no/such/compiler");
  const nlohmann::json answer = examined(4);
  EXPECT_EQ(check(answer, "compiler").at("status"), "fail");
  EXPECT_EQ(check(answer, "compiler").at("facts").at("code"), "no-compiler");
  EXPECT_EQ(check(answer, "build").at("status"), "skipped");
  const RunResult run = labrig_command({"doctor"});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.output.find("fix: "), std::string::npos) << run.output;
}

TEST(Doctor, ACompilerThatStartsAndCannotBuildIsFoundOut) {
  const Scratch scratch;
  const std::string compiler = scratch / "c++";
  std::ofstream(compiler) << "#!/bin/sh\n[ \"$1\" = --version ] && echo 'c++ 12' && exit 0\n"
                             "echo 'c++: fatal error: cannot execute cc1plus' >&2; exit 1\n";
  fs::permissions(compiler, fs::perms::owner_all);
  const Variable chosen("LABRIG_CXX", compiler);
  const nlohmann::json answer = examined(4);
  EXPECT_EQ(check(answer, "compiler").at("status"), "ok");
  EXPECT_EQ(check(answer, "build").at("status"), "fail");
}

TEST(Doctor, ACacheThatCannotBeWrittenIsAFailureWithTheVariableToSet) {
  const Scratch scratch;
  std::ofstream(scratch / "file") << "not a folder";
  const Variable cache("XDG_CACHE_HOME", scratch / "file");
  const nlohmann::json found = check(examined(4), "cache");
  EXPECT_EQ(found.at("status"), "fail");
  EXPECT_NE(found.at("fix").get<std::string>().find("export XDG_CACHE_HOME="), std::string::npos);
}

TEST(Doctor, LeavesNothingInTheCache) {
  const Scratch scratch;
  const Variable cache("XDG_CACHE_HOME", scratch / "cache");
  examined(0);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "cache")) files += entry.is_regular_file();
  EXPECT_EQ(files, 0u);
}

TEST(Doctor, FailsWhereAnExpectedDeviceIsMissing) {
  const Variable hidden("CUDA_VISIBLE_DEVICES", "");
  EXPECT_EQ(check(examined(4, {"--device", "cuda"}), "device").at("status"), "fail");
  EXPECT_EQ(check(examined(0, {"--device", "sim"}), "device").at("facts").at("device"), "sim:0");
  EXPECT_EQ(labrig_command({"doctor", "--device", "gpu"}).exit_code, 2);
}

TEST(Doctor, ADeviceThatOnlyTheEnvironmentNamesIsAWarning) {
  const Variable device("LABRIG_DEVICE", "sim:99");
  const nlohmann::json found = check(examined(0), "device");
  EXPECT_EQ(found.at("status"), "warn");
  EXPECT_EQ(found.at("facts").at("asked_by"), "LABRIG_DEVICE");
}

}  // namespace
