// A student's loop: a try after each save, the page of a try, hints, a debugger.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "grade_toy.hpp"

extern char** environ;

namespace labrig::test {
namespace {

namespace fs = std::filesystem;

const std::string kSolutionFolder = std::string(LABRIG_SOURCE) + "/tests/grading/lab/solution";

std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("nothing to replace: " + what);
  return text.replace(at, what.size(), by);
}

Outcome labrig(const std::vector<std::string>& arguments) { return run_labrig(with_toy_labs(arguments)); }

// A submission of the tests' lab in a folder of its own, and a cache of its own.
class Loop : public testing::Test {
 protected:
  Loop() {
    fs::create_directory(folder_);
    write(folder_ + "/submission.cpp", solution_);
  }
  const Scratch scratch_;
  const std::string folder_ = scratch_ / "mine", solution_ = read(kSolutionFolder + "/submission.cpp");
};

// `labrig check --watch` in a process of its own; what it prints lands in a file.
class Watching {
 public:
  Watching(const std::string& folder, std::string output, const std::vector<std::string>& more = {})
      : output_(std::move(output)) {
    std::vector<std::string> words = with_toy_labs({"check", folder, "--lab", "plus-one", "--watch"});
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.begin(), std::string(LABRIG_BUILD) + "/bin/labrig");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    if (posix_spawn(&pid_, pointers.front(), &actions, &attributes, pointers.data(), environ) != 0)
      throw std::runtime_error("labrig does not start");
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  ~Watching() {
    if (pid_ > 0) interrupt();
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

  // What was printed, once `text` is part of it; a test fails by its own limit if it never is.
  std::string printed_with(const std::string& text) const {
    for (;;) {
      std::string all = read(output_);
      if (all.find(text) != std::string::npos) return all;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  // Ctrl-C, as a terminal sends it: to the whole group. The exit code.
  int interrupt() {
    ::kill(-pid_, SIGINT);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    group_is_gone_ = ::kill(-pid_, 0) != 0;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  bool group_is_gone() const { return group_is_gone_; }

 private:
  pid_t pid_ = -1;
  bool group_is_gone_ = false;
  std::string output_;
};

TEST_F(Loop, WatchSaysWhatEachSaveChanged) {
  const std::string file = folder_ + "/submission.cpp";
  Watching watching(folder_, scratch_ / "out");
  watching.printed_with("100 / 100");
  write(file, replaced(solution_, ";", ""));  // in place, as some editors save
  EXPECT_NE(watching.printed_with("it does not run").find("the submission does not compile"), std::string::npos);
  write(folder_ + "/.new", solution_ + "// mended\n");
  fs::rename(folder_ + "/.new", file);  // and as others do
  watching.printed_with("it runs again: 100 of 100 points, nothing changed");
  write(folder_ + "/notes.txt", "not a file of the lab");
  EXPECT_EQ(watching.interrupt(), 130);
  EXPECT_TRUE(watching.group_is_gone());
}

// A compiler has children of its own, which a signal to the compiler alone does not reach.
TEST_F(Loop, LeavesNoCompilerAndNoFolderBehindWhenItIsStoppedMeanwhile) {
  // A quarter of a million types: the compiler has work for many seconds.
  const std::string slow = solution_ +
                           "template <int N, int M> struct Many { static constexpr int v = Many<N - 1, 2 * M>::v + "
                           "Many<N - 1, 2 * M + 1>::v; };\n"
                           "template <int M> struct Many<0, M> { static constexpr int v = 1; };\n"
                           "static_assert(Many<18, 0>::v > 0);\n";
  write(folder_ + "/submission.cpp", slow);
  const std::string cache = scratch_ / "cache";
  const std::string call = "XDG_CACHE_HOME=" + cache + " timeout -s TERM 1 " + std::string(LABRIG_BUILD) +
                           "/bin/labrig --labs " + LABRIG_BUILD + "/tests/labs check " + folder_ +
                           " --lab plus-one >/dev/null 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(call.c_str())), 124);
  for (const auto& entry : fs::directory_iterator(cache + "/labrig/build"))
    EXPECT_FALSE(entry.path().filename().string().starts_with("building-")) << entry.path();
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::ifstream in(process.path() / "cmdline");
    const std::string line{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(line.find(cache), std::string::npos) << line;
  }
}

TEST_F(Loop, ReplacesPagesAndNothingElse) {
  const std::string file = folder_ + "/submission.cpp";
  const Outcome outcome = labrig({"check", folder_, "--lab", "plus-one", "--html", "--html-file", file});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.text.find("is no page"), std::string::npos) << outcome.text;
  EXPECT_EQ(read(file), solution_);
}

TEST_F(Loop, WatchAnswersEachTryWithALineOfJson) {
  Watching watching(folder_, scratch_ / "out", {"--json"});
  watching.printed_with("\n");
  const nlohmann::json report = nlohmann::json::parse(read(scratch_ / "out"));
  EXPECT_EQ(report.at("score"), 100);
  EXPECT_EQ(watching.interrupt(), 130);
}

TEST_F(Loop, WatchWantsAFolder) {
  const Outcome outcome = labrig({"check", toy_plugin("solution"), "--watch"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.text.find("--watch wants a folder"), std::string::npos) << outcome.text;
}

TEST_F(Loop, ThePageSaysWhatChangedSinceTheLastCheck) {
  const std::string page = scratch_ / "page.html";
  write(folder_ + "/submission.cpp", replaced(solution_, ";", ""));
  EXPECT_EQ(labrig({"check", folder_, "--lab", "plus-one"}).exit_code, 3);
  write(folder_ + "/submission.cpp", solution_);
  const Outcome outcome = labrig({"check", folder_, "--lab", "plus-one", "--html", "--html-file", page});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("page: " + page), std::string::npos) << outcome.text;
  EXPECT_NE(read(page).find("fixed"), std::string::npos);
}

TEST(Hint, ComesOneStepAtATime) {
  const Outcome first = run_labrig({"hint", "bytes-up", "--lab", "transfer-cost"});
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_NE(first.text.find("hint 1 of 3, a nudge"), std::string::npos) << first.text;
  EXPECT_NE(first.text.find("more: labrig hint bytes-up --lab transfer-cost --level 2"), std::string::npos);
  const Outcome last = run_labrig({"hint", "bytes-up", "--lab", "transfer-cost", "--level", "3"});
  EXPECT_NE(last.text.find("that was the last"), std::string::npos) << last.text;
  EXPECT_EQ(first.text.find(last.text.substr(last.text.rfind("  "))), std::string::npos) << "the answer, too early";
}

TEST(Hint, FindsTheLabOfACheckThatOnlyOneHas) {
  const Outcome outcome = run_labrig({"hint", "born-on-the-device", "--json"}, "cd / &&");
  EXPECT_EQ(nlohmann::json::parse(outcome.text).at("lab"), "transfer-cost");
}

TEST(Hint, ListsTheChecksForANameThatIsNone) {
  const Outcome anywhere = run_labrig({"hint", "bites-up"}, "cd / &&");
  EXPECT_EQ(anywhere.exit_code, 2);
  EXPECT_NE(anywhere.text.find("transfer-cost: values-right, bytes-up"), std::string::npos) << anywhere.text;
  const Outcome outcome = run_labrig({"hint", "bites-up", "--lab", "transfer-cost"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.text.find("its checks are values-right, bytes-up"), std::string::npos) << outcome.text;
}

TEST_F(Loop, DebugStopsInTheStudentsCode) {
  if (std::system("command -v gdb >/dev/null 2>&1") != 0) GTEST_SKIP() << "gdb is not installed";
  std::string command =
      "gdb -q -batch -ex 'set breakpoint pending on' -ex 'break submission.cpp:1' -ex run -ex bt --args " +
      quoted(std::string(LABRIG_BUILD) + "/bin/labrig");
  for (const std::string& word : with_toy_labs({"check", folder_, "--lab", "plus-one", "--debug"}))
    command += " " + quoted(word);
  FILE* pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  pclose(pipe);
  EXPECT_NE(text.find(" hit Breakpoint 1"), std::string::npos) << text;
  EXPECT_NE(text.find(") at submission.cpp:"), std::string::npos) << text;
}

}  // namespace
}  // namespace labrig::test
