// The commands around grading: exit codes, files, answers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "grade_toy.hpp"

extern char** environ;

namespace labrig::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kSolutionFolder = std::string(LABRIG_SOURCE) + "/tests/grading/lab/solution";

Outcome labrig(const std::vector<std::string>& arguments, const std::string& before = "") {
  return run_labrig(with_toy_labs(arguments), before);
}

TEST(Grade, GivesTheSolutionAllPointsWhicheverWayItComes) {
  const Graded plugin = grade_toy(toy_plugin("solution"));
  EXPECT_EQ(plugin.exit_code, 0) << plugin.text;
  EXPECT_EQ(plugin.report.at("score"), 100);
  const Graded folder = grade_toy(kSolutionFolder);
  EXPECT_EQ(folder.report.at("submission").at("source"), "folder");
  EXPECT_EQ(body(folder.report), body(plugin.report));
}

TEST(Grade, IsTheSameWithAnyNumberOfJobs) {
  const json one = body(grade_toy(toy_plugin("throw_int"), {"--jobs", "1"}).report);
  EXPECT_EQ(body(grade_toy(toy_plugin("throw_int"), {"--jobs", "4"}).report), one);
}

TEST(Grade, WritesTheReportAndTheStudentsCopies) {
  const Scratch scratch;
  const std::string out = scratch / "out";
  EXPECT_EQ(labrig({"grade", toy_plugin("solution"), "--lab", "plus-one", "--out", out, "--quiet"}).text, "");
  for (const char* name : {"report.json", "report.html", "report.student.json", "report.student.html"})
    EXPECT_GT(fs::file_size(fs::path(out) / name), 100u) << name;
  const json hidden = read_json(out + "/report.student.json").at("cases").at(2);
  EXPECT_EQ(hidden.at("id"), "unseen@desktop");
  EXPECT_TRUE(hidden.at("parameters").empty());
  const Outcome other = labrig({"grade", toy_plugin("throw_int"), "--lab", "plus-one", "--out", out});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.text.find("is the report of another submission"), std::string::npos) << other.text;
  EXPECT_EQ(labrig({"grade", toy_plugin("solution"), "--lab", "plus-one", "--out", out}).exit_code, 0);
}

TEST(Grade, RefusesAPluginOfAnotherLabAndSaysSoInTheReport) {
  const Scratch scratch;
  const std::string broken = scratch / "broken.labrig.so";
  std::ofstream(broken) << "this is no library";
  const Graded graded = grade_toy(broken);
  EXPECT_EQ(graded.exit_code, 3);
  EXPECT_EQ(graded.report.at("score"), 0);
  EXPECT_TRUE(graded.report.at("cases").empty());
  EXPECT_EQ(graded.report.at("checks").at(0).at("reason").at("code"), "plugin-file");
}

TEST(Grade, RefusesAFolderThatDoesNotBuild) {
  const Scratch scratch;
  fs::create_directories(scratch / "mine");
  std::ofstream(scratch / "mine/submission.cpp") << "#include \"interface.hpp\"\nint x = \"text\";\n";
  const Graded graded = grade_toy(scratch / "mine");
  EXPECT_EQ(graded.exit_code, 3);
  EXPECT_EQ(graded.report.at("checks").at(0).at("reason").at("code"), "does-not-build");
  EXPECT_EQ(graded.report.at("submission").at("name"), "mine");
}

TEST(Grade, DrawsShapesFromTheSecret) {
  const Scratch scratch;
  std::vector<json> sizes;
  for (int i = 0; i < 6; ++i) {
    std::ofstream(scratch / "secret") << "secret number " << i << "\n";
    const Graded graded = grade_toy(toy_plugin("solution"), {"--secret-file", scratch / "secret"});
    EXPECT_EQ(graded.report.at("score"), 100);
    EXPECT_NE(graded.report.at("environment").at("secret"), "public");
    sizes.push_back(graded.item("cases", "unseen@desktop").at("parameters"));
  }
  EXPECT_NE(std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()), sizes.end());
}

TEST(Usage, ErrorsHaveTheirExitCode) {
  EXPECT_EQ(labrig({}).exit_code, 2);
  EXPECT_EQ(labrig({"grade"}).exit_code, 2);
  EXPECT_EQ(labrig({"grade", toy_plugin("solution"), "--lab", "none"}).exit_code, 2);
  EXPECT_EQ(labrig({"grade", "/nothing/here", "--lab", "plus-one"}).exit_code, 2);
  EXPECT_EQ(labrig({"grade", toy_plugin("solution"), "--lab", "plus-one", "--seed", "x"}).exit_code, 2);
  EXPECT_EQ(labrig({"--version"}).exit_code, 0);
  for (const char* command : {"labs", "grade", "check"}) {
    const Outcome help = labrig({command, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.text.find("Example: labrig"), std::string::npos) << help.text;
  }
}

TEST(Usage, ErrorsSayWhatWhyAndFix) {
  const Outcome outcome = labrig({"grade", "--lob", "plus-one"});
  EXPECT_NE(outcome.text.find("error: `labrig grade` has no option --lob"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("fix: did you mean --lab?"), std::string::npos) << outcome.text;
}

TEST(Grade, ReadsASeedThatBeginsWithZeroAsTen) {
  const Outcome ten =
      labrig({"check", toy_plugin("solution"), "--lab", "plus-one", "--seed", "010", "--task", "2", "--json"});
  EXPECT_EQ(json::parse(ten.text).at("cases").at(0).at("seed"), "0xa");
}

TEST(Grade, RefusesAnEmptyOutAndAPipeForASubmission) {
  EXPECT_EQ(labrig({"grade", toy_plugin("solution"), "--lab", "plus-one", "--out", ""}).exit_code, 2);
  const Scratch scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(labrig({"grade", scratch / "pipe", "--lab", "plus-one"}).exit_code, 2);
  EXPECT_EQ(labrig({"check", scratch / "pipe"}).exit_code, 2);
}

TEST(Grade, WritesTheReportThoughNobodyReadsTheConsole) {
  const Scratch scratch;
  const std::string command = quoted(std::string(LABRIG_BUILD) + "/bin/labrig") + " --labs " +
                              quoted(std::string(LABRIG_BUILD) + "/tests/labs") + " grade " +
                              quoted(toy_plugin("solution")) + " --lab plus-one --out " + quoted(scratch / "out") +
                              " | true";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_json(scratch / "out/report.json").at("score"), 100);
  EXPECT_TRUE(fs::exists(scratch / "out/report.html"));
}

TEST(Grade, TakesACompilerThatCannotWorkForTheMachinesFault) {
  const Scratch scratch;
  std::ofstream(scratch / "compiler") << "#!/bin/sh\n[ \"$1\" = --version ] && exec echo g++ 12\n"
                                         "echo '/usr/bin/ld: final link failed: No space left on device' >&2\nexit 1\n";
  fs::permissions(scratch / "compiler", fs::perms::owner_all);
  const Outcome outcome = labrig({"grade", kSolutionFolder, "--lab", "plus-one", "--out", scratch / "out"},
                                 "LABRIG_CXX=" + quoted(scratch / "compiler"));
  EXPECT_EQ(outcome.exit_code, 4) << outcome.text;
  EXPECT_NE(outcome.text.find("No space left on device"), std::string::npos) << outcome.text;
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

TEST(Grade, BuildsAgainWhatWasCutShortInTheCache) {
  const Scratch scratch;
  const std::string cache = "XDG_CACHE_HOME=" + quoted(scratch / "cache");
  const std::vector<std::string> command = {"check", kSolutionFolder, "--lab", "plus-one", "--quiet"};
  ASSERT_EQ(labrig(command, cache).exit_code, 0);
  int cut = 0;
  for (const auto& entry : fs::directory_iterator(scratch / "cache/labrig/build"))
    if (entry.path().extension() == ".so") fs::resize_file(entry.path(), 1000), ++cut;
  ASSERT_EQ(cut, 1);
  EXPECT_EQ(labrig(command, cache).exit_code, 0);
}

TEST(Report, IndexLeavesOutABrokenReportAndSaysSo) {
  const Scratch scratch;
  fs::create_directories(scratch / "all/cut");
  std::ofstream(scratch / "all/cut/report.json") << "{\"lab\": ";
  labrig({"grade", toy_plugin("solution"), "--lab", "plus-one", "--out", scratch / "all/good"});
  const Outcome outcome = labrig({"report", "index", scratch / "all"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.text.find("left out: cut/report.json"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("1 reports: "), std::string::npos) << outcome.text;
}

TEST(Labs, AreListedWithTheirTasks) {
  const Outcome outcome = labrig({"labs", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  const json labs = json::parse(outcome.text);
  EXPECT_EQ(labs.at(0).at("id"), "plus-one");
  EXPECT_EQ(labs.at(0).at("tasks").at(1).at("title"), "On the host");
}

TEST(Check, SaysOfADeviceOnlyWhetherTheValuesAreRight) {
  const auto on = [](const char* plugin, const char* device) {
    return labrig({"check", toy_plugin(plugin), "--device", device, "--json"});
  };
  const Outcome right = on("solution", "sim");
  EXPECT_EQ(right.exit_code, 0) << right.text;
  const json values = json::parse(right.text);
  EXPECT_GT(values.at("right"), 0);
  EXPECT_EQ(values.at("wrong"), 0);
  for (const json& one : values.at("cases")) {
    EXPECT_FALSE(one.contains("metrics")) << one;
    EXPECT_EQ(one.at("status") == "skipped", one.at("text") != "") << one;
  }
  const Outcome wrong = run_labrig({"check", plugin("oom-triage", "forgets_to_average"), "--lab", "oom-triage",
                                    "--device", "sim", "--task", "2", "--json"});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.text;
  EXPECT_GT(json::parse(wrong.text).at("wrong"), 0) << wrong.text;
}

TEST(Check, SaysWhyThereIsNothingToRunOnWhereThereIsNoSuchCard) {
  const Outcome none =
      labrig({"check", toy_plugin("solution"), "--device", "cuda:3", "--json"}, "CUDA_VISIBLE_DEVICES= ");
  EXPECT_EQ(none.exit_code, 4) << none.text;
  const json error = json::parse(none.text).at("error");
  for (const char* sentence : {"what", "why", "fix"}) EXPECT_NE(error.at(sentence), "") << sentence;
}

TEST(Check, RunsWhatIsVisibleOfTheLabThatTheFolderNames) {
  const Scratch scratch;
  fs::create_directories(scratch / "mine");
  fs::copy(kSolutionFolder + "/submission.cpp", scratch / "mine");
  EXPECT_EQ(labrig({"check", scratch / "mine"}).exit_code, 2) << "the folder does not say its lab";
  std::ofstream(scratch / "mine/CMakeLists.txt")
      << "labrig_add_submission(submission LAB plus-one SOURCES submission.cpp)\n";
  const Outcome outcome = labrig({"check", "--json"}, "cd " + quoted(scratch / "mine") + " && ");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  const json report = json::parse(outcome.text);
  EXPECT_EQ(report.at("score"), 100);
  EXPECT_EQ(report.at("cases").size(), 2u);
  const json first_task = json::parse(labrig({"check", scratch / "mine", "--task", "1", "--json"}).text);
  EXPECT_EQ(first_task.at("cases").size(), 1u);
  EXPECT_EQ(first_task.at("max_score"), 70);
  EXPECT_EQ(labrig({"check", scratch / "mine", "--task", "9"}).exit_code, 2);
}

TEST(Check, SaysInWordsWhatToDoNext) {
  const Outcome outcome = labrig({"check", toy_plugin("wrong_shape"), "--lab", "plus-one"});
  EXPECT_EQ(outcome.exit_code, 0) << "70 of 100 points pass";
  EXPECT_NE(outcome.text.find("Not right on the host"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find(" --lab plus-one --task 2"), std::string::npos) << outcome.text;
}

TEST(Check, ReadsTheLabOfAPluginOffItsManifest) { EXPECT_EQ(labrig({"check", toy_plugin("solution")}).exit_code, 0); }

TEST(Check, SaysWhereAFolderThatIsNotThereWasExpected) {
  const Outcome outcome = labrig({"check", "no-such-folder"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.text.find("there is nothing at no-such-folder"), std::string::npos) << outcome.text;
}

TEST(Check, ShowsTheCompilersFirstError) {
  const Scratch scratch;
  fs::create_directories(scratch / "mine");
  std::ofstream(scratch / "mine/submission.cpp") << "#include \"interface.hpp\"\nint x = 1\n";
  const Outcome outcome = labrig({"check", scratch / "mine", "--lab", "plus-one"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.text.find("submission.cpp:2:"), std::string::npos) << outcome.text;
}

TEST(Check, ShortensWhatAnExceptionSaysAndTakesNoCodeThatIsText) {
  const Scratch scratch;
  fs::create_directories(scratch / "mine");
  std::string source = [] {
    std::ifstream file(kSolutionFolder + "/submission.cpp");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const std::size_t body = source.find("override {") + std::string("override {").size();
  source.insert(body, " throw labrig::Error(\"<b> x\", std::string(1000000, '{'), \"\", \"\");");
  std::ofstream(scratch / "mine/submission.cpp") << "#include \"labrig/error.hpp\"\n" << source;
  const Outcome outcome = labrig({"check", scratch / "mine", "--lab", "plus-one", "--json"});
  const json report = json::parse(outcome.text);
  EXPECT_EQ(report.at("cases").at(0).at("reason").at("code"), "exception");
  EXPECT_LT(report.at("cases").at(0).at("reason").at("text").get<std::string>().size(), 3000u);
}

TEST(Check, GivesTheSameMetricsInOneProcess) {
  const json graded = json::parse(labrig({"check", toy_plugin("solution"), "--lab", "plus-one", "--json"}).text);
  const Outcome debug = labrig({"check", toy_plugin("solution"), "--lab", "plus-one", "--debug", "--json"});
  EXPECT_EQ(debug.exit_code, 0) << debug.text;
  EXPECT_EQ(json::parse(debug.text).at("cases").at(0).at("metrics"), graded.at("cases").at(0).at("metrics"));
}

TEST(Interrupted, RunsEndAtOnceAndLeaveNothing) {
  const Scratch scratch;
  std::vector<std::string> words =
      with_toy_labs({"grade", toy_plugin("sleep"), "--lab", "plus-one", "--out", scratch / "out"});
  words.insert(words.begin(), std::string(LABRIG_BUILD) + "/bin/labrig");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  ASSERT_EQ(::posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ::kill(pid, SIGINT);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(fs::exists(scratch / "out/report.json"));
}

}  // namespace
}  // namespace labrig::test
