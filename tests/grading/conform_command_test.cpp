// `labrig conform alloc_traces` as a user calls it: what it prints, and its exit codes.
#include <gtest/gtest.h>

#include "conform/json_file.hpp"
#include "run_labrig.hpp"

namespace labrig {
namespace {

using test::run_labrig;

const std::string kGolden = LABRIG_TEST_GOLDEN "/alloc_traces.json.gz";

TEST(ConformCommand, PrintsThatAllRecordedRunsAreExact) {
  const test::Outcome outcome = run_labrig({"conform", "alloc_traces", kGolden});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.text, "30 of 30 exact\n");
}

TEST(ConformCommand, PrintsTheFirstDifferenceInFullAndExitsWithOne) {
  const test::Scratch scratch;
  nlohmann::json traces = conform::JsonFile::read(kGolden).value().json();
  traces["traces"].erase(traces["traces"].begin() + 4, traces["traces"].end());
  traces["traces"][3]["stats"][10][7] = 99;
  std::ofstream(scratch / "changed.json") << traces;
  const test::Outcome outcome = run_labrig({"conform", "alloc_traces", scratch / "changed.json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(
      outcome.text.rfind("3 of 4 exact\nfirst difference: trace 3 (kind edge, seed 3, streams 1), operation 10: " +
                             traces["traces"][3]["ops"][10].dump() +
                             "\n  key:      allocation.all.current\n  expected: 99\n  got:      ",
                         0),
      0u)
      << outcome.text;
  const test::Outcome as_json = run_labrig({"conform", "alloc_traces", "--json", scratch / "changed.json"});
  EXPECT_EQ(as_json.exit_code, 1);
  const nlohmann::json answer = nlohmann::json::parse(as_json.text);
  EXPECT_EQ(answer["exact"], 3);
  EXPECT_EQ(answer["first_difference"]["operation"], 10);
}

TEST(ConformCommand, RefusesAFileThatIsNoRecordingWithExitCodeTwo) {
  const test::Scratch scratch;
  std::ofstream(scratch / "bad.json") << "{\n\"traces\": [}";
  const test::Outcome outcome = run_labrig({"conform", "alloc_traces", scratch / "bad.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.text.rfind("error: cannot use ", 0), 0u) << outcome.text;
  EXPECT_NE(outcome.text.find("bad.json:2:12: this is not JSON"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("\n  fix: "), std::string::npos) << outcome.text;
}

TEST(ConformCommand, NamesAKindThatItDoesNotKnowAndListsThoseThatThereAre) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"conform", "foo"}, {"conform", "foo", kGolden}}) {
    const test::Outcome outcome = run_labrig(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.text.rfind("error: 'foo' is no kind of recording\n  why: the kinds are alloc_traces, ", 0), 0u)
        << outcome.text;
  }
}

TEST(ConformCommand, SaysThatTheFileIsMissing) {
  const test::Outcome outcome = run_labrig({"conform", "operators"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.text.rfind("error: `labrig conform operators` needs a FILE\n", 0), 0u) << outcome.text;
}

}  // namespace
}  // namespace labrig
