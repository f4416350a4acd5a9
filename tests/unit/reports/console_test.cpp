// The report in a terminal.
#include <gtest/gtest.h>

#include "render.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

TEST(Console, SaysScoreLostChecksWhyAndWhatToDoNext) {
  const std::string text = render_console(sample("weights-every-batch"), false);
  EXPECT_NE(text.find("passed  67.5 / 100"), std::string::npos) << text;
  EXPECT_NE(text.find("FAIL  bytes-up"), std::string::npos);
  EXPECT_NE(text.find("part  copies-up"), std::string::npos);
  EXPECT_NE(text.find("pass  values-right"), std::string::npos);
  EXPECT_NE(text.find("7.65 MiB went up"), std::string::npos);
  EXPECT_NE(text.find("      labrig check . --task 1\n"), std::string::npos);
}

TEST(Console, TellsOneCauseOnce) {
  std::string text = render_console(sample("crashed"), false);
  text.erase(text.find("\nprinted in "));  // where the program says it too
  const std::string reason = "device pointer dereferenced";
  EXPECT_EQ(text.find(reason), text.rfind(reason));
  EXPECT_NE(text.find("lost with values-right"), std::string::npos);
}

TEST(Console, SaysWhyACaseIsAHazardThatNobodyRecorded) {
  nlohmann::json report = sample("solution");
  EXPECT_EQ(render_console(report, false).find("hazard"), std::string::npos);
  nlohmann::json& one = report["cases"][0];
  one["status"] = "hazard";
  one["reason"] = {{"code", "wrong-when-late"}, {"text", "right when the card works at once"}};
  EXPECT_NE(render_console(report, false).find("  right when the card works at once\n"), std::string::npos);
}

TEST(Console, UsesColourOnlyWhenAsked) {
  EXPECT_EQ(render_console(sample("crashed"), false).find('\x1b'), std::string::npos);
  EXPECT_NE(render_console(sample("crashed"), true).find("\x1b[31mFAIL\x1b[0m"), std::string::npos);
}

TEST(Console, NeverPassesAControlCharacterOn) {
  for (const char c : render_console(with_every_text(hostile_text()), false)) {
    EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << static_cast<int>(c);
  }
}

TEST(Console, KeepsLinesShort) {
  std::string line;
  for (const char c : render_console(sample("crashed"), false)) {
    if (c != '\n') {
      line += c;
      continue;
    }
    EXPECT_LE(line.size(), 110u) << line;
    line.clear();
  }
}

TEST(Console, SaysWhenThereIsNoScore) {
  nlohmann::json report = sample("solution");
  report["score"] = nullptr;
  EXPECT_NE(render_console(report, false).find("no score"), std::string::npos);
}

}  // namespace
}  // namespace labrig::reports::test
