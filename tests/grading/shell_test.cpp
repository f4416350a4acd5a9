// The command line as a whole: what holds for every command, what is said to a wrong word, the manual page, a terminal.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "command_list.hpp"
#include "terminal.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string kSource = LABRIG_SOURCE;

// A call of each command that succeeds, but for the exit code of a grade.
std::map<std::string, std::vector<std::string>> calls(const Scratch& scratch) {
  const std::string solution = toy_plugin("solution"), report = kSource + "/reports/samples/refused.json";
  fs::copy_file(report, scratch / "report.json", fs::copy_options::overwrite_existing);
  fs::copy_file(solution, scratch / "solution.labrig.so", fs::copy_options::overwrite_existing);
  std::ofstream(scratch / "labrig.toml")
      << "schema = 1\n[[submission]]\npath = \"solution.labrig.so\"\nlab = \"plus-one\"\n";
  return {
      {"labs", {}},
      {"new", {"transfer-cost", scratch / "new"}},
      {"check", {solution}},
      {"hint", {"bytes-up", "--lab", "transfer-cost"}},
      {"grade", {solution, "--lab", "plus-one"}},
      {"plugin doctor", {solution}},
      {"doctor", {}},
      {"plan", {kSource + "/docs/models/mlp.toml"}},
      {"explain", {"CUDA out of memory"}},
      {"bench crossover", {"--profile", "t4"}},
      {"bench copies", {"--profile", "t4"}},
      {"report render", {report, "--out", scratch / "rendered"}},
      {"report index", {scratch / ""}},
      {"triage", {kSource + "/tests/golden/triage/OOM-07.txt"}},
      {"conform", {"grad_scaler", kSource + "/tests/golden/core/grad_scaler.json.gz"}},
      {"ci", {"--config", scratch / "labrig.toml"}},
      {"kit student", {"--lab", "transfer-cost", "--out", scratch / "kit"}},
      {"kit gradescope", {"--lab", "transfer-cost", "--out", scratch / "kit.zip"}},
      {"completions", {"bash"}},
      {"man", {}},
  };
}

std::vector<std::string> call_of(const Listed& command, const Scratch& scratch) {
  return with_toy_labs(command.with(calls(scratch)[command.name()]));
}

TEST(EveryCommand, HasACallInThisTest) {
  const Scratch scratch;
  const auto known = calls(scratch);
  const std::vector<Listed> all = all_commands();
  EXPECT_GE(all.size(), 24u);
  for (const Listed& command : all)
    if (!command.is_group()) {
      EXPECT_TRUE(known.contains(command.name())) << command.name();
    }
}

TEST(EveryCommand, AnswersWithOneJsonDocument) {
  for (const Listed& command : all_commands()) {
    if (command.is_group()) continue;
    const Scratch scratch;
    std::vector<std::string> call = call_of(command, scratch);
    call.push_back("--json");
    const Outcome outcome = answer(call);
    EXPECT_LE(outcome.exit_code, 1) << command.name() << "\n" << outcome.text;
    EXPECT_FALSE(json::parse(outcome.text, nullptr, false).is_discarded()) << command.name() << "\n" << outcome.text;
    EXPECT_FALSE(outcome.text.starts_with("{\n  \"error\"")) << command.name() << "\n" << outcome.text;
  }
}

TEST(EveryCommand, IsSilentWhenToldTo) {
  for (const Listed& command : all_commands()) {
    if (command.is_group()) continue;
    const Scratch scratch;
    std::vector<std::string> call = call_of(command, scratch);
    call.insert(call.begin(), "--quiet");
    const Outcome outcome = run_labrig(call);
    EXPECT_LE(outcome.exit_code, 1) << command.name() << "\n" << outcome.text;
    EXPECT_EQ(outcome.text, "") << command.name();
  }
}

TEST(EveryCommand, AnswersWithJsonAlsoWhenItIsCalledWrongly) {
  for (const Listed& command : all_commands()) {
    for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
             {"--no-such-option", "--json"}, {"--json", "--no-such-option"}, {"-x", "--json"}}) {
      const Outcome outcome = answer(command.with(wrong));
      EXPECT_EQ(outcome.exit_code, 2) << command.name();
      const json error = json::parse(outcome.text, nullptr, false);
      ASSERT_TRUE(error.is_object()) << command.name() << "\n" << outcome.text;
      EXPECT_EQ(error.at("error").at("code"), "usage") << command.name();
      for (const char* part : {"what", "why", "fix"}) EXPECT_FALSE(error.at("error").at(part).empty()) << part;
    }
  }
}

// Names of files are bytes; JSON is UTF-8.
TEST(EveryCommand, AnswersWithJsonAboutAFolderWithAnyName) {
  const Scratch scratch;
  const std::string folder = scratch / "caf\xe9", kit = scratch / "kit\xff";
  for (const std::vector<std::string>& call : std::vector<std::vector<std::string>>{
           {"new", "transfer-cost", folder}, {"kit", "student", "--lab", "transfer-cost", "--out", kit}}) {
    std::vector<std::string> with_json = call;
    with_json.emplace_back("--json");
    const Outcome outcome = answer(with_json);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
    EXPECT_FALSE(json::parse(outcome.text, nullptr, false).is_discarded()) << outcome.text;
  }
  EXPECT_TRUE(fs::exists(fs::path(folder) / "submission.cpp") && fs::exists(kit));
}

// Also where the parser took the flag for something else.
TEST(EveryCommand, AnswersWithJsonWhereverTheFlagStands) {
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"--labs", "/no/such", "labs", "--json"},
                                             {"--json", "--labs", "/no/such", "labs"},
                                             {"grade", ".", "--lab", "--json"},
                                             {"check", "/no/such", "--json"}}) {
    const json error = json::parse(answer(call).text, nullptr, false);
    EXPECT_TRUE(error.is_object() && error.contains("error")) << error;
  }
  EXPECT_EQ(answer({"explain", "--", "--json"}).text.find('{'), std::string::npos) << "behind -- it is a word";
}

std::string no_such_option(const std::string& called, const std::string& wrong) {
  return "error: " + called + " has no option " + wrong + "\n  why: ";
}

// In the words of labrig: what is wrong by its name, what there is, what to do.
TEST(EveryCommand, NamesAWrongOptionAndOneWithoutItsValue) {
  for (const Listed& command : all_commands()) {
    const std::string called = "`" + command.help.at("command").get<std::string>() + "`";
    for (const auto& option : command.help.at("options")) {
      const std::string name = option.at("name"), wrong = name + "x";
      if (name.size() < 5) continue;
      const Outcome outcome = run_labrig(command.with({wrong}));
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_TRUE(outcome.text.starts_with(no_such_option(called, wrong))) << outcome.text;
      EXPECT_NE(outcome.text.find("fix: did you mean " + name + "?"), std::string::npos) << outcome.text;
      if (option.at("value").is_null()) continue;
      const Outcome open = run_labrig(command.with({name}));
      EXPECT_EQ(open.exit_code, 2);
      EXPECT_TRUE(open.text.starts_with("error: " + name + " stands without its ")) << open.text;
    }
  }
}

TEST(EveryCommand, SaysWhatItNeeds) {
  for (const Listed& command : all_commands()) {
    std::vector<std::string> needed;
    for (const char* list : {"arguments", "options"})
      for (const auto& one : command.help.at(list))
        if (one.at("required").get<bool>()) needed.push_back(one.at("name"));
    if (command.is_group()) needed.emplace_back("a command");
    if (needed.empty() || command.words.empty()) continue;  // labrig alone says where to begin
    const Outcome outcome = run_labrig(command.words);
    EXPECT_EQ(outcome.exit_code, 2) << command.name();
    const std::string what = outcome.text.substr(0, outcome.text.find('\n'));
    EXPECT_TRUE(what.starts_with("error: `labrig " + command.name() + "` needs ")) << what;
    for (const std::string& name : needed) EXPECT_NE(what.find(name), std::string::npos) << what;
    EXPECT_NE(outcome.text.find("fix: for example: labrig "), std::string::npos) << outcome.text;
  }
}

TEST(EveryCommand, ListsTheCommandsBelowItToAWrongWord) {
  for (const Listed& command : all_commands()) {
    if (!command.is_group()) continue;
    const Outcome outcome = run_labrig(command.with({"xyzzy"}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.text.find("has no command 'xyzzy'"), std::string::npos) << outcome.text;
    EXPECT_EQ(outcome.text.find("did you mean"), std::string::npos) << outcome.text;
    for (const auto& below : command.help.at("commands")) {
      const std::string whole = below.at("command"), name = whole.substr(whole.rfind(' ') + 1);
      EXPECT_NE(outcome.text.find(name), std::string::npos) << outcome.text;
      const Outcome near = run_labrig(command.with({name + "x"}));
      EXPECT_NE(near.text.find("fix: did you mean `" + whole + "`?"), std::string::npos) << near.text;
    }
  }
}

TEST(EveryCommand, HasAPageWithItsExitCodesAndAnExample) {
  for (const Listed& command : all_commands()) {
    const std::string name = command.help.at("command");
    const auto& examples = command.help.at("examples");
    ASSERT_FALSE(examples.empty()) << name;
    for (const auto& example : examples)
      EXPECT_NE(example.get<std::string>().find(command.is_group() ? "labrig " : name), std::string::npos) << example;
    if (!command.is_group() || command.words.empty()) {
      const auto& exits = command.help.at("exit_codes");
      ASSERT_GE(exits.size(), 2u) << name;
      EXPECT_EQ(exits.at(0).at("code"), 0) << name;
      EXPECT_TRUE(std::any_of(exits.begin(), exits.end(), [](const auto& one) { return one.at("code") == 2; })) << name;
    }
    const Outcome page = run_labrig(command.with({"--help"}));
    EXPECT_EQ(page.exit_code, 0) << name;
    EXPECT_NE(page.text.find("\nUsage: " + command.help.at("usage").get<std::string>() + "\n"), std::string::npos);
    for (const auto& option : command.help.at("options"))
      EXPECT_NE(page.text.find(option.at("name").get<std::string>()), std::string::npos) << name << option;
    EXPECT_EQ(json::parse(answer(command.with({"--json", "--help"})).text), command.help) << name;
  }
}

TEST(EveryCommand, IsInTheManual) {
  const std::string page = answer({"man"}).text;
  for (const Listed& command : all_commands())
    if (!command.is_group()) {
      EXPECT_NE(page.find(".SS \"labrig " + command.name()), std::string::npos) << command.name();
    }
  for (const char* hidden : {"labrig kit autograde", "labrig complete ", "record\\-reference"})
    EXPECT_EQ(page.find(hidden), std::string::npos) << hidden;
}

TEST(Start, AnswersWithItsVersionAsJson) {
  const json version = json::parse(answer({"--version", "--json"}).text);
  EXPECT_EQ("labrig " + version.at("labrig").get<std::string>(),
            answer({"--version"}).text.substr(0, answer({"--version"}).text.find('\n')));
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

TEST(WrongWord, OfAnOptionsValueIsNamedWithWhatThereIs) {
  const auto says = [](const std::vector<std::string>& call, const std::string& what, const std::string& why) {
    const Outcome outcome = run_labrig(call);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(outcome.text.starts_with("error: " + what + "\n  why: " + why)) << outcome.text;
  };
  says({"check", "--task", "x"}, "'x' is no value for --task", "it takes a number from 1 to 1000\n");
  says({"plan", "m", "--reserve", "nan"}, "'nan' is no value for --reserve", "it takes a number from 0 to 0.99\n");
  says({"ci", "--init", "githb"}, "'githb' is no value for --init", "it takes one of github, gitlab\n");
  says({"completions", "csh"}, "'csh' is no value for SHELL", "it takes one of bash, zsh, fish\n");
  says({"grade", ".", "--lab", "a", "--secret-file", ""}, "'' is no value for --secret-file", "the name is empty");
  says({"grade", ".", "--lab", "a", "--lab", "b"}, "--lab is given more than once",
       "it takes one value, and got 'a', 'b'");
  says({"check", "--debug", "--watch"}, "--debug and --watch do not go together", "--debug: ");
  says({"check", "--html-file", "x"}, "--html-file says nothing without --html", "--html: ");
  says({"labs", "--quiet=maybe"}, "--quiet takes no value, and 'maybe' is given", "it is there or not: ");
  says({"new", "amp", "a", "b"}, "'b' is one word too many", "`labrig new` takes LAB, DIR;");
  says({"labs", "amp"}, "'amp' is one word too many", "`labrig labs` takes options only;");
  says({"check", "--out", "x"}, "`labrig check` has no option --out", "its options are ");
}

TEST(WrongWord, OfAnotherCommandIsSentThere) {
  EXPECT_NE(run_labrig({"check", "--title", "x"}).text.find("fix: `labrig report index` has it"), std::string::npos);
  EXPECT_NE(run_labrig({"kit", "stud"}).text.find("did you mean `labrig kit student`?"), std::string::npos);
}

TEST(WrongWord, ThatIsNearARightOneIsGuessed) {
  const auto guess = [](const std::vector<std::string>& call) {
    const Outcome outcome = run_labrig(call);
    EXPECT_EQ(outcome.exit_code, 2);
    const std::size_t at = outcome.text.find("\n  fix: ");
    return at == std::string::npos ? outcome.text : outcome.text.substr(at + 8);
  };
  EXPECT_EQ(guess({"new", "trasfer-cost", "x"}), "did you mean 'transfer-cost'?\n");
  EXPECT_EQ(guess({"hint", "byte-up"}), "did you mean 'bytes-up'?\n");
  EXPECT_EQ(guess({"hint", "byte-up", "--lab", "transfer-cost"}), "did you mean 'bytes-up'?\n");
  EXPECT_EQ(
      guess({"report", "render", kSource + "/reports/samples/refused.json", "--out", "x", "--format", "json,htlm"}),
      "did you mean 'html'?\n");
  EXPECT_EQ(guess({"check", "--device", "cud"}), "did you mean 'cuda'?\n");
}

// Runs a command of a shell and gives what it prints.
std::string shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  std::string text;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  pclose(pipe);
  return text;
}

TEST(Manual, IsAPageWithoutWarnings) {
  const std::string page = std::string(LABRIG_BUILD) + "/share/man/man1/labrig.1";
  if (shell("command -v groff").empty()) GTEST_SKIP() << "groff is not installed";
  EXPECT_EQ(shell("groff -Kutf8 -man -ww -z -Tutf8 " + page), "");
}

// A page for people: exit codes are a table, examples have a part of their own.
TEST(Manual, HasItsPartsInOrder) {
  const std::string page = answer({"man"}).text;
  std::size_t at = 0;
  for (const char* part :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "\"EXIT STATUS\"", "EXAMPLES", "ENVIRONMENT"}) {
    const std::size_t found = page.find(std::string("\n.SH ") + part + "\n");
    ASSERT_NE(found, std::string::npos) << part;
    EXPECT_GT(found, at) << part;
    at = found;
  }
  const std::size_t exits = page.find(".SH \"EXIT STATUS\""), examples = page.find(".SH EXAMPLES");
  const std::string table = page.substr(exits, examples - exits);
  for (const char* code : {"0", "1", "2", "3", "4", "5", "130"})
    EXPECT_NE(table.find(std::string(".TP\n\\fB") + code + "\\fR\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("Example"), std::string::npos) << table;
}

// What a command writes on a terminal of its own.
std::string on_a_terminal(const std::string& command) { return Terminal(command).read_all(); }

TEST(Terminal, ShowsColoursUnlessTheyAreNotWanted) {
  const std::string call =
      std::string(LABRIG_BUILD) + "/bin/labrig --labs " + LABRIG_BUILD + "/tests/labs check " + toy_plugin("solution");
  EXPECT_NE(on_a_terminal(call).find("\x1b["), std::string::npos);
  EXPECT_NE(on_a_terminal("NO_COLOR= " + call).find("\x1b["), std::string::npos) << "empty means nothing";
  EXPECT_EQ(on_a_terminal("NO_COLOR=1 " + call + " 2>/dev/null").find("\x1b["), std::string::npos);
  EXPECT_EQ(on_a_terminal(call + " 2>&1 | cat").find('\x1b'), std::string::npos) << "a pipe is no terminal";
}

// The submission sleeps until it is stopped, which takes longer than the second after which the line appears.
TEST(Terminal, AloneShowsHowFarItIs) {
  const Scratch scratch;
  const std::string call =
      std::string(LABRIG_BUILD) + "/bin/labrig --labs " + LABRIG_BUILD + "/tests/labs check " + toy_plugin("sleep");
  Terminal shows(call), elsewhere(call + " 2>" + scratch / "err"), quiet(call + " --quiet");
  const std::string shown = shows.read_all();
  ASSERT_TRUE(std::regex_search(shown, std::regex("running: [01] of 2 cases"))) << shown;
  EXPECT_GT(shown.rfind("\r\033[K"), shown.rfind(" of 2 cases")) << "it is taken away again\n" << shown;
  const std::string answer = elsewhere.read_all();
  EXPECT_EQ(answer.find(" of 2 cases"), std::string::npos) << answer;
  EXPECT_EQ(fs::file_size(scratch / "err"), 0u);
  EXPECT_EQ(quiet.read_all(), "");
}

}  // namespace
}  // namespace labrig::test
