// The commands that look at plugins and folders, as a user runs them: exit codes and JSON.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "build/run_program.hpp"

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

TEST(Doctor, FindsThisMachineFit) {
  const RunResult run = labrig_command({"doctor", "--json"});
  const nlohmann::json answer = nlohmann::json::parse(run.output);
  EXPECT_TRUE(answer.at("fit")) << run.output;
  EXPECT_EQ(run.exit_code, 0);
}

TEST(Doctor, SaysWhatIsMissingWithExitFour) {
  setenv("LABRIG_CXX", "/no/such/compiler", 1);
  const RunResult run = labrig_command({"doctor", "--json"});
  unsetenv("LABRIG_CXX");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_FALSE(nlohmann::json::parse(run.output).at("fit"));
}

}  // namespace
