// The command line as a whole: what holds for every command, completions, the manual page, a terminal.
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <map>
#include <set>
#include <sstream>

#include "grade_toy.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string kSource = LABRIG_SOURCE;

// Only what a program writes on stdout.
Outcome answer(const std::vector<std::string>& arguments) {
  const Scratch scratch;
  std::string command = quoted(std::string(LABRIG_BUILD) + "/bin/labrig");
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  const int status = std::system((command + " >" + scratch / "out" + " 2>/dev/null </dev/null").c_str());
  std::ifstream file(scratch / "out");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, {std::istreambuf_iterator<char>(file), {}}};
}

// The commands that `labrig --help` lists, and those below them.
std::vector<std::string> commands() {
  std::vector<std::string> found;
  std::istringstream lines(run_labrig({"--help"}).text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Subcommands:")) {
      inside = true;
    } else if (inside && line.starts_with("  ") && line.size() > 2 && line[2] != ' ') {
      found.push_back(line.substr(2, line.find(' ', 2) - 2));
    } else if (inside && line.empty()) {
      break;
    }
  }
  return found;
}

// A call of each command that succeeds, but for the exit code of a grade.
std::map<std::string, std::vector<std::string>> calls(const Scratch& scratch) {
  const std::string solution = toy_plugin("solution"), report = kSource + "/reports/samples/refused.json";
  return {
      {"labs", {"labs"}},
      {"new", {"new", "transfer-cost", scratch / "new"}},
      {"check", {"check", solution}},
      {"hint", {"hint", "bytes-up", "--lab", "transfer-cost"}},
      {"grade", {"grade", solution, "--lab", "plus-one"}},
      {"plugin", {"plugin", "doctor", solution}},
      {"doctor", {"doctor"}},
      {"plan", {"plan", kSource + "/docs/models/mlp.toml"}},
      {"explain", {"explain", "CUDA out of memory"}},
      {"bench", {"bench", "crossover", "--profile", "t4"}},
      {"report", {"report", "render", report, "--out", scratch / "rendered"}},
      {"triage", {"triage", kSource + "/tests/golden/triage/OOM-07.txt"}},
      {"conform", {"conform", "grad_scaler", kSource + "/tests/golden/core/grad_scaler.json.gz"}},
      {"ci", {"ci", "--init", "github"}},
      {"kit", {"kit", "student", "--lab", "transfer-cost", "--out", scratch / "kit"}},
      {"completions", {"completions", "bash"}},
      {"man", {"man"}},
  };
}

TEST(EveryCommand, HasACallInThisTest) {
  const Scratch scratch;
  const auto known = calls(scratch);
  const std::vector<std::string> all = commands();
  EXPECT_GE(all.size(), 15u);
  for (const std::string& command : all) EXPECT_TRUE(known.contains(command)) << command;
}

TEST(EveryCommand, AnswersWithOneJsonDocument) {
  const Scratch scratch;
  for (auto [command, arguments] : calls(scratch)) {
    if (command == "ci") continue;  // writes files: below, by its error
    arguments.push_back("--json");
    const Outcome outcome = answer(with_toy_labs(arguments));
    EXPECT_LE(outcome.exit_code, 1) << command << "\n" << outcome.text;
    EXPECT_FALSE(json::parse(outcome.text, nullptr, false).is_discarded()) << command << "\n" << outcome.text;
  }
}

TEST(EveryCommand, IsSilentWhenToldTo) {
  const Scratch scratch;
  for (auto [command, arguments] : calls(scratch)) {
    if (command == "ci") continue;
    arguments.insert(arguments.begin(), "--quiet");
    const Outcome outcome = run_labrig(with_toy_labs(arguments));
    EXPECT_LE(outcome.exit_code, 1) << command;
    EXPECT_EQ(outcome.text, "") << command;
  }
}

TEST(EveryCommand, AnswersWithJsonAlsoWhenItIsCalledWrongly) {
  for (const std::string& command : commands()) {
    const Outcome outcome = answer({command, "--no-such-option", "--json"});
    EXPECT_EQ(outcome.exit_code, 2) << command;
    const json error = json::parse(outcome.text, nullptr, false);
    ASSERT_TRUE(error.is_object()) << command << "\n" << outcome.text;
    EXPECT_EQ(error.at("error").at("code"), "usage") << command;
  }
  EXPECT_EQ(json::parse(answer({"ci", "--config", "/no/such", "--json"}).text).at("error").at("code"), "no-ci-file");
}

TEST(EveryCommand, IsInTheManualAndInTheCompletions) {
  const std::string page = run_labrig({"man"}).text;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = run_labrig({"completions", shell}).text;
    for (const std::string& command : commands()) {
      EXPECT_NE(script.find(command), std::string::npos) << shell << ' ' << command;
      EXPECT_NE(page.find("labrig " + command), std::string::npos) << command;
    }
  }
}

TEST(Start, SaysWhereToBegin) {
  const Outcome outcome = run_labrig({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.text.find("labrig new LAB DIR"), std::string::npos) << outcome.text;
}

TEST(Start, GuessesWhatWasMeant) {
  const Outcome outcome = run_labrig({"chekc", "."});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.text.find("did you mean `labrig check`?"), std::string::npos) << outcome.text;
  EXPECT_EQ(run_labrig({"xyzzy"}).text.find("did you mean"), std::string::npos);
}

// Runs a command of a shell and gives what it prints.
std::string shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  pclose(pipe);
  return text;
}

std::set<std::string> completed(const std::string& words, int at) {
  const std::string bin = std::string(LABRIG_BUILD) + "/bin";
  std::istringstream lines(shell("PATH=" + bin + ":$PATH bash -c 'source <(labrig completions bash); COMP_WORDS=(" +
                                 words + "); COMP_CWORD=" + std::to_string(at) +
                                 "; _labrig; printf \"%s\\n\" \"${COMPREPLY[@]}\"'"));
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);) found.insert(line);
  return found;
}

TEST(Completions, OfBashKnowCommandsOptionsLabsAndChecks) {
  EXPECT_EQ(completed("labrig che", 1), std::set<std::string>{"check"});
  EXPECT_TRUE(completed("labrig check --wa", 2).contains("--watch"));
  EXPECT_EQ(completed("labrig plugin d", 2), std::set<std::string>{"doctor"});
  EXPECT_TRUE(completed("labrig new \"\"", 2).contains("transfer-cost"));
  EXPECT_TRUE(completed("labrig hint b", 2).contains("bytes-up"));
  EXPECT_TRUE(completed("labrig grade . --lab am", 4).contains("amp"));
}

TEST(Completions, AreScriptsThatTheirShellsCanRead) {
  const std::string share = std::string(LABRIG_BUILD) + "/share/";
  EXPECT_EQ(shell("bash -n " + share + "bash-completion/completions/labrig"), "");
  if (!shell("command -v zsh").empty()) {
    EXPECT_EQ(shell("zsh -n " + share + "zsh/site-functions/_labrig"), "");
  }
  if (!shell("command -v fish").empty()) {
    EXPECT_EQ(shell("fish -n " + share + "fish/vendor_completions.d/labrig.fish"), "");
  }
}

TEST(Manual, IsAPageWithoutWarnings) {
  const std::string page = std::string(LABRIG_BUILD) + "/share/man/man1/labrig.1";
  if (shell("command -v groff").empty()) GTEST_SKIP() << "groff is not installed";
  EXPECT_EQ(shell("groff -Kutf8 -man -ww -z -Tutf8 " + page), "");
}

// What a command writes on a terminal of its own.
std::string on_a_terminal(const std::string& command) {
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, nullptr);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(master, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(master);
  waitpid(child, nullptr, 0);
  return text;
}

TEST(Terminal, ShowsColoursUnlessTheyAreNotWanted) {
  const std::string call =
      std::string(LABRIG_BUILD) + "/bin/labrig --labs " + LABRIG_BUILD + "/tests/labs check " + toy_plugin("solution");
  EXPECT_NE(on_a_terminal(call).find("\x1b["), std::string::npos);
  EXPECT_NE(on_a_terminal("NO_COLOR= " + call).find("\x1b["), std::string::npos) << "empty means nothing";
  EXPECT_EQ(on_a_terminal("NO_COLOR=1 " + call + " 2>/dev/null").find("\x1b["), std::string::npos);
  EXPECT_EQ(on_a_terminal(call + " 2>&1 | cat").find('\x1b'), std::string::npos) << "a pipe is no terminal";
}

}  // namespace
}  // namespace labrig::test
