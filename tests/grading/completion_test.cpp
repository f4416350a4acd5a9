// Completions: what may follow a begun line, for every command that there is; and the scripts, in their shells, on a
// terminal, by somebody who presses Tab.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "command_list.hpp"
#include "terminal.hpp"

namespace labrig::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Names lines_of(const std::string& text) {
  Names lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line.substr(0, line.find('\t')));
  return lines;
}

// The candidates, without what they are.
Names next_words(const Names& words) {
  Names call = {"complete", "--"};
  call.insert(call.end(), words.begin(), words.end());
  return lines_of(answer(call).text);
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(NextWords, AreTheCommandsAndOptionsOfEveryCommand) {
  for (const Listed& command : all_commands()) {
    const Names options = next_words(command.with({"-"})), words = next_words(command.with({""}));
    for (const auto& option : command.help.at("options"))
      EXPECT_TRUE(has(options, option.at("name"))) << command.name() << ' ' << option;
    EXPECT_TRUE(has(options, "--labs") && has(options, "--quiet")) << command.name();
    EXPECT_EQ(std::set<std::string>(options.begin(), options.end()).size(), options.size()) << "none stands twice";
    for (const auto& below : command.help.at("commands")) {
      const std::string name = below.at("command");
      EXPECT_TRUE(has(words, name.substr(name.rfind(' ') + 1))) << name;
    }
    if (command.is_group()) {
      EXPECT_EQ(words.size(), command.help.at("commands").size()) << command.name();
    }
  }
}

// The same word for a value means the same everywhere, and the shell is told what it is.
TEST(NextWords, KnowTheValueOfEveryOptionAndEveryPlace) {
  for (const Listed& command : all_commands()) {
    const auto expect_known = [&](const nlohmann::json& option, const std::string& value, const Names& line) {
      const bool free = value == "N" || value == "TEXT";
      EXPECT_EQ(next_words(line).empty(), free) << command.name() << ' ' << option;
    };
    for (const auto& option : command.help.at("options"))
      if (option.at("value").is_string())
        expect_known(option, option.at("value"), command.with({option.at("name"), ""}));
    Names before;
    for (const auto& place : command.help.at("arguments")) {
      Names line = command.with(before);
      line.push_back("");
      expect_known(place, place.at("name"), line);
      before.emplace_back("word");
    }
  }
}

TEST(NextWords, DoNotTakeTheValueOfAnOptionForACommand) {
  EXPECT_TRUE(has(next_words({"--labs", "check", "hin"}), "hint"));
  EXPECT_EQ(next_words({"grade", "--out", "doctor", "."}), Names{":files"});
  EXPECT_TRUE(has(next_words({"grade", "doctor", "--lab", ""}), "transfer-cost"));
}

TEST(NextWords, GoOnWithAListOfFormats) {
  EXPECT_EQ(next_words({"grade", ".", "--format", "json,ju"}), Names{"json,junit"});
  EXPECT_EQ(next_words({"report", "render", "--format=json,ju"}), Names{"--format=json,junit"});
  EXPECT_FALSE(has(next_words({"grade", ".", "--format", "json,"}), "json,json"));
}

TEST(NextWords, LeaveOutWhatIsThereOrDoesNotGoWithIt) {
  const Names options = next_words({"check", ".", "--debug", "-"});
  EXPECT_TRUE(has(options, "--task"));
  for (const char* no : {"--debug", "--watch", "--html", "--device"}) EXPECT_FALSE(has(options, no)) << no;
}

TEST(NextWords, KnowLabsChecksCardsAndRecordings) {
  const std::string toys = std::string(LABRIG_BUILD) + "/tests/labs";
  EXPECT_TRUE(has(next_words({"new", ""}), "transfer-cost"));
  EXPECT_TRUE(has(next_words({"--labs", toys, "new", ""}), "plus-one"));
  EXPECT_FALSE(has(next_words({"new", ""}), "plus-one"));
  EXPECT_TRUE(has(next_words({"hint", "b"}), "bytes-up"));
  EXPECT_FALSE(has(next_words({"hint", "--lab", "oom-triage", "bytes"}), "bytes-up")) << "a check of another lab";
  EXPECT_EQ(next_words({"plan", "--card", "t"}), (Names{"t4", "tiny-256mib", "tiny-t4"}));
  EXPECT_EQ(next_words({"bench", "copies", "--profile", "cards/"}), Names{":files"}) << "no name: a file";
  EXPECT_TRUE(has(next_words({"conform", "a"}), "alloc_traces"));
  EXPECT_EQ(next_words({"ci", "--init", ""}), (Names{"github", "gitlab"}));
}

TEST(NextWords, ComeAlsoWhereAFolderOfLabsIsNotThere) {
  const Outcome outcome = run_labrig({"complete", "--", "--labs", "/no/such", "check", "--wa"}, "LABRIG_LABS=/no/such");
  EXPECT_EQ(lines_of(outcome.text), Names{"--watch"}) << outcome.text;
}

TEST(NextWords, HoldNothingThatIsHidden) {
  EXPECT_EQ(next_words({"kit", ""}), (Names{"student", "gradescope"}));
  EXPECT_EQ(next_words({"comp"}), Names{"completions"});
  EXPECT_FALSE(has(next_words({"labs", "-"}), "--record-reference"));
}

// A shell that has read labrig's script, in a folder with names to complete.
class TabIn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::system(("command -v " + shell() + " >/dev/null").c_str()) != 0)
      GTEST_SKIP() << shell() << " is not installed";
    fs::create_directories(scratch_ / "at home");
    fs::create_directories(scratch_ / "here/my lab");
    std::ofstream(scratch_ / "here/my report.json") << "{}";
    std::ofstream(scratch_ / "at home/.bashrc") << "PS1='ready '\nsource <(labrig completions bash)\n";
    std::ofstream(scratch_ / "at home/.zshrc")
        << "fpath=(" << quoted(share() + "/zsh/site-functions") << " $fpath)\nautoload -U compinit\ncompinit -D -u\n"
        << "bindkey -e\nPS1='ready '\n";
    std::ofstream(scratch_ / "at home/init.fish")
        << "source " << quoted(share() + "/fish/vendor_completions.d/labrig.fish")
        << "\nfunction fish_prompt; echo -n 'ready '; end\n";
  }

  std::string shell() const { return GetParam(); }
  static std::string share() { return std::string(LABRIG_BUILD) + "/share"; }
  std::string call() const {
    return shell() == "bash"  ? "bash --noprofile --rcfile \"$HOME/.bashrc\" -i"
           : shell() == "zsh" ? "ZDOTDIR=\"$HOME\" zsh -d -i"
                              : "fish --no-config -i -C 'source \"$HOME/init.fish\"'";
  }

  // The words that the command line has once these keys were typed. They become those of printf, so that the shell
  // itself says what it understands.
  Names words_after(const std::string& keys) {
    Terminal terminal("cd " + quoted(scratch_ / "here") + " && HOME=" + quoted(scratch_ / "at home") + " PATH=" +
                      quoted(std::string(LABRIG_BUILD) + "/bin") + ":$PATH TERM=xterm LC_ALL=C.UTF-8 exec env " +
                      "-u LABRIG_LABS -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u HISTFILE -u ENV -u ZDOTDIR sh -c " +
                      quoted("exec env " + call()));
    terminal.read_until("ready ");
    terminal.type(keys + "\x01" + "printf '<%s>\\n' " + "\x05" + " end\r");
    std::string shown = terminal.read_until("<end>");
    shown.resize(std::min(shown.find("<end>"), shown.size()));
    static const std::regex word("<([^<>%\r\n]*)>\r*\n");
    Names words;
    for (std::sregex_iterator at(shown.begin(), shown.end(), word), none; at != none; ++at) words.push_back((*at)[1]);
    if (words.empty()) ADD_FAILURE() << shown;
    return words;
  }

 private:
  Scratch scratch_;
};

TEST_P(TabIn, FinishesCommandsAtEveryDepth) {
  EXPECT_EQ(words_after("labrig gra\t"), (Names{"labrig", "grade"}));
  EXPECT_EQ(words_after("labrig plugin d\t"), (Names{"labrig", "plugin", "doctor"}));
  EXPECT_EQ(words_after("labrig kit stu\t --o\t"), (Names{"labrig", "kit", "student", "--out"}));
}

TEST_P(TabIn, FinishesValues) {
  EXPECT_EQ(words_after("labrig new trans\t"), (Names{"labrig", "new", "transfer-cost"}));
  EXPECT_EQ(words_after("labrig hint bytes-u\t"), (Names{"labrig", "hint", "bytes-up"}));
  EXPECT_EQ(words_after("labrig grade . --format json,juni\t"),
            (Names{"labrig", "grade", ".", "--format", "json,junit"}));
  EXPECT_EQ(words_after("labrig grade . --format=json,juni\t"), (Names{"labrig", "grade", ".", "--format=json,junit"}));
  EXPECT_EQ(words_after("labrig check --device cuda:2\t"), (Names{"labrig", "check", "--device", "cuda:2"}));
}

TEST_P(TabIn, FinishesNamesOfFilesWithBlanks) {
  const Names file = {"labrig", "report", "render", "my report.json"};
  EXPECT_EQ(words_after("labrig report render my\\ re\t"), file);
  EXPECT_EQ(words_after("labrig report render 'my re\t"), file);
  EXPECT_EQ(words_after("labrig report render --previous=my\\ re\t"),
            (Names{"labrig", "report", "render", "--previous=my report.json"}));
  Names folder = words_after("labrig grade . --out my\t");  // the file is no folder, so that one name is left
  ASSERT_EQ(folder.size(), 5u);
  if (folder.back().ends_with('/')) folder.back().pop_back();
  EXPECT_EQ(folder.back(), "my lab");
}

INSTANTIATE_TEST_SUITE_P(EveryShell, TabIn, testing::Values("bash", "zsh", "fish"),
                         [](const auto& shell) { return std::string(shell.param); });

}  // namespace
}  // namespace labrig::test
