// `labrig explain` as a user calls it: what it prints, as text and as JSON, and its exit code.
#include <gtest/gtest.h>

#include "run_labrig.hpp"

namespace labrig {
namespace {

using test::run_labrig;

TEST(ExplainCommand, AnswersWithTheEntryAsText) {
  const test::Outcome outcome = run_labrig({"explain", "CUDA", "error:", "invalid", "device", "ordinal"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.text.rfind("A card is asked for by a number that it does not have (invalid-device-number)\n", 0),
            0u)
      << outcome.text;
  for (const char* part : {"  causes, the most frequent first\n    - ", "\n  check  ", "\n  fix    ", "\n  avoid  "})
    EXPECT_NE(outcome.text.find(part), std::string::npos) << part << outcome.text;
}

TEST(ExplainCommand, AnswersWithJson) {
  const test::Outcome outcome = run_labrig({"explain", "--json", "my loss is stuck with amp"});
  EXPECT_EQ(outcome.exit_code, 0);
  const nlohmann::json entry = nlohmann::json::parse(outcome.text).at("entries").at(0);
  EXPECT_EQ(entry.at("id"), "amp-loss-stuck");
  for (const char* key : {"title", "check", "fix"}) EXPECT_FALSE(entry.at(key).get<std::string>().empty()) << key;
  for (const char* key : {"causes", "avoid", "facts"}) EXPECT_FALSE(entry.at(key).empty()) << key;
}

TEST(ExplainCommand, NamesALabOnlyWhereItIsThere) {
  const auto lab_of = [](const char* text) {
    return nlohmann::json::parse(run_labrig({"explain", "--json", text}).text).at("entries").at(0).at("lab");
  };
  EXPECT_EQ(lab_of("speed-up only 1.x"), "transfer-cost");
  EXPECT_EQ(lab_of("first call very slow"), "");  // until its lab is built
}

TEST(ExplainCommand, ReadsATextFromItsInput) {
  const test::Scratch scratch;
  std::ofstream(scratch / "log")
      << "Traceback (most recent call last):\n  File \"a.py\", line 1\nIndexError: index out of "
         "range in self\n";
  const std::string command =
      test::quoted(LABRIG_BUILD "/bin/labrig") + " explain --json - < " + test::quoted(scratch / "log");
  FILE* pipe = popen(command.c_str(), "r");
  std::string text(100000, '\0');
  text.resize(fread(text.data(), 1, text.size(), pipe));
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(nlohmann::json::parse(text).at("entries").at(0).at("id"), "index-out-of-range");
}

TEST(ExplainCommand, SaysThatThereIsNoEntryAndExitsWithZero) {
  const test::Outcome outcome = run_labrig({"explain", "KeyError: 'a'"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.text.rfind("no entry", 0), 0u) << outcome.text;
  const test::Outcome as_json = run_labrig({"explain", "KeyError: 'a'", "--json"});
  EXPECT_EQ(as_json.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(as_json.text), nlohmann::json({{"entries", nlohmann::json::array()}}));
}

TEST(ExplainCommand, WantsAText) { EXPECT_EQ(run_labrig({"explain"}).exit_code, 2); }

}  // namespace
}  // namespace labrig
