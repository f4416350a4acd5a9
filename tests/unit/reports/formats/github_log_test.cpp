// What a command prints into GitHub's log besides its own messages: read back as GitHub's runner reads it, nothing in
// it is a command.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "formats.hpp"
#include "render.hpp"
#include "samples.hpp"

namespace labrig::reports {
namespace {

using nlohmann::json;

// The runner trims blanks of all scripts in front of a line, then looks for "::"; "##[" it takes anywhere.
bool is_command(std::string line) {
  for (bool trimmed = true; trimmed;) {
    trimmed = false;
    for (const std::string blank :
         {" ", "\t", "\v", "\f", "\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\x83", "\xe3\x80\x80"})
      while (line.starts_with(blank)) line.erase(0, blank.size()), trimmed = true;
  }
  return line.starts_with("::") || line.find("##[") != std::string::npos;
}

int commands_in(std::string text) {
  for (char& c : text)
    if (c == '\r') c = '\n';
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += is_command(line) ? 1 : 0;
  return count;
}

const char* const kForged[] = {"::add-mask::x",           "  ::error::x",    "a\r::error::x",
                               "a\n\t::stop-commands::x", ":::error::x",     "\xc2\xa0::error::x",
                               "\xe3\x80\x80::error::x",  "text ##[error]x", "####[error]x ##[add-mask]y"};

TEST(GithubLog, TakesEveryForgedCommandApart) {
  for (const char* text : kForged) {
    EXPECT_GT(commands_in(text), 0) << text;
    EXPECT_EQ(commands_in(without_commands(text)), 0) << text;
  }
}

TEST(GithubLog, LeavesOtherTextsAsTheyAre) {
  for (const char* text : {"", "std::vector<float> at main.cpp:12: error", "# heading\n## [link]", "a ::b"})
    EXPECT_EQ(without_commands(text), text);
}

TEST(GithubLog, TheConsoleOfAHostileReportHasNone) {
  int forged = 0;
  for (const char* text : kForged) {
    const std::string console = render_console(test::with_every_text(text), false);
    forged += commands_in(console);
    EXPECT_EQ(commands_in(without_commands(console)), 0) << text;
  }
  EXPECT_GT(forged, 0) << "else nothing was tried";
}

TEST(GithubLog, JsonReadsTheSameAfterwards) {
  const json report = {{"a", kForged}, {"##[error]", "##[##["}};
  const std::string text = json_without_commands(report.dump(2));
  EXPECT_EQ(commands_in(text), 0);
  EXPECT_EQ(json::parse(text), report);
}

}  // namespace
}  // namespace labrig::reports
