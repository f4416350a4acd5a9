// Submissions that misbehave: each way has its status, phase and reason, costs its own case alone, leaves no process
// behind and does not touch the next run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "grade_toy.hpp"

namespace labrig::test {
namespace {

struct Way {
  const char *name, *status, *phase, *code, *text;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

bool has_process(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string comm;
    std::ifstream(entry.path() / "comm") >> comm;
    if (comm == name) return true;
  }
  return false;
}

// The body of the solution's report, graded once.
const nlohmann::json& expected_of_solution() {
  static const nlohmann::json expected = body(grade_toy(toy_plugin("solution")).report);
  return expected;
}

class Misbehaving : public testing::TestWithParam<Way> {};

TEST_P(Misbehaving, IsToldApartAndCostsItsOwnCase) {
  const Way& way = GetParam();
  const bool on_the_card = std::string(way.name).starts_with("card_");
  const bool everywhere =
      std::string(way.name).ends_with("while_loading") || std::string(way.name) == "crash_in_destructor";
  const nlohmann::json& expected = expected_of_solution();
  const Graded graded = grade_toy(toy_plugin(way.name));
  const nlohmann::json& bad = graded.item("cases", on_the_card ? "card@desktop" : "host@cpu");
  EXPECT_EQ(bad.at("status"), way.status) << graded.text;
  EXPECT_EQ(bad.at("phase"), way.phase);
  if (way.code == nullptr) {
    EXPECT_TRUE(bad.at("reason").is_null()) << bad.at("reason");
  } else {
    EXPECT_EQ(bad.at("reason").at("code"), way.code);
    EXPECT_NE(bad.at("reason").at("text").get<std::string>().find(way.text), std::string::npos) << bad.at("reason");
  }
  const nlohmann::json& other = graded.item("cases", on_the_card ? "host@cpu" : "card@desktop");
  EXPECT_EQ(other.at("status"), everywhere ? way.status : "ok") << other.at("reason");
  EXPECT_FALSE(graded.report.at("score").is_null());

  EXPECT_EQ(body(grade_toy(toy_plugin("solution")).report), expected) << "the next run must be unaffected";
}

INSTANTIATE_TEST_SUITE_P(
    All, Misbehaving,
    testing::Values(Way{"segfault", "crashed", "call", "crashed", "Segmentation fault"},
                    Way{"recursion", "crashed", "call", "crashed", "Segmentation fault"},
                    Way{"abort", "crashed", "call", "aborted", "aborted during the call"},
                    Way{"loop", "timed_out", "call", "timed-out", "of CPU time during the call"},
                    Way{"sleep", "timed_out", "call", "timed-out", "most of it waiting"},
                    Way{"stop", "timed_out", "call", "timed-out", "most of it waiting"},
                    Way{"throw_int", "crashed", "call", "exception", "an exception of type int"},
                    Way{"throw_text", "crashed", "call", "exception", "std::runtime_error: a text of its own"},
                    Way{"exit_while_loading", "stopped_early", "load", "stopped-early", "exit code 0 while loading"},
                    Way{"crash_while_loading", "crashed", "load", "crashed", ""},
                    Way{"exit_in_call", "stopped_early", "call", "stopped-early", "exit code 0 during the call"},
                    Way{"crash_in_destructor", "crashed", "teardown", "crashed", ""},
                    Way{"allocate", "out_of_memory", "call", "host-out-of-memory", "no memory left"},
                    Way{"flood", "over_limit", "call", "output", "printed more than 16 MiB"},
                    Way{"wrong_shape", "wrong_values", "call", "wrong-shape", ""},
                    Way{"undefined", "wrong_values", "call", "missing-output", "y"},
                    Way{"not_a_number", "wrong_values", "call", "not-finite", ""},
                    Way{"card_device_pointer", "crashed", "call", "crashed", "device pointer dereferenced on the host"},
                    Way{"card_host_work", "over_limit", "call", "host-work", "the host worked for more than"},
                    Way{"card_too_large", "out_of_memory", "call", "out-of-memory", "out of memory"},
                    Way{"fake_report", "stopped_early", "call", "damaged-data", "damaged data"},
                    Way{"card_queue", "stopped_early", "call", "stopped-early", "exit code 0 during the call"},
                    Way{"card_after_finish", "crashed", "teardown", "after-finish", "after the end of the measured"},
                    Way{"card_thread", "ok", "call", nullptr, nullptr},
                    Way{"stops_its_judge", "stopped_early", "call", "stopped-early", "exit code 0 during the call"},
                    Way{"forged_module", "stopped_early", "call", "damaged-data", "a phase came that is none"},
                    Way{"forged_nesting", "stopped_early", "call", "damaged-data", "a frame holds no message"},
                    Way{"lingering_child", "ok", "call", nullptr, nullptr},
                    Way{"prints", "ok", "call", nullptr, nullptr}),
    [](const testing::TestParamInfo<Way>& way) { return way.param.name; });

TEST(MisbehavingOutput, IsKeptUpToTheLimitAndNeverBelieved) {
  const Graded prints = grade_toy(toy_plugin("prints"));
  EXPECT_EQ(prints.item("cases", "host@cpu").at("output").at("text"), "hello from the submission\n");
  EXPECT_EQ(prints.exit_code, 0);
  const Graded flood = grade_toy(toy_plugin("flood"));
  const nlohmann::json& output = flood.item("cases", "host@cpu").at("output");
  EXPECT_EQ(output.at("text").get<std::string>().size(), 4096u);
  EXPECT_EQ(output.at("cut"), true);
  const Graded fake = grade_toy(toy_plugin("fake_report"));
  EXPECT_EQ(fake.report.at("score"), 70);
}

TEST(MisbehavingChildren, DoNotSurviveTheRun) {
  grade_toy(toy_plugin("lingering_child"));
  EXPECT_FALSE(has_process("labrig-linger"));
}

TEST(MisbehavingHosts, DoNotGetTheCardsPoints) {
  const Graded graded = grade_toy(toy_plugin("card_unused"));
  EXPECT_EQ(graded.item("checks", "right-on-the-card").at("reason").at("code"), "card-idle");
  EXPECT_EQ(graded.item("checks", "one-copy-each-way").at("reason").at("code"), "needs:right-on-the-card");
  EXPECT_EQ(graded.report.at("score"), 30);
}

}  // namespace
}  // namespace labrig::test
