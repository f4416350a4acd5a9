// The comment for GitHub: complete, and nothing of a submission means anything in it.
#include <gtest/gtest.h>

#include <sstream>

#include "format_renderers.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

// Without fenced blocks and code spans: what Markdown reads.
std::string read_part(const std::string& page) {
  std::string out, fence;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (fence.empty() && ticks >= 3) {
      fence = line.substr(0, ticks);
    } else if (!fence.empty()) {
      if (line == fence) fence.clear();
    } else {
      bool code = false;
      for (const char c : line) {
        if (c == '`') code = !code;
        if (!code && c != '`') out += c;
      }
      EXPECT_FALSE(code) << line;
      out += '\n';
    }
  }
  EXPECT_EQ(fence, "");
  return out;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST(Markdown, SaysWhatTheReportSays) {
  const std::string page = render_markdown(sample("weights-every-batch"));
  EXPECT_NE(page.find("**Verdict:** "), std::string::npos);
  EXPECT_NE(page.find("**Score:** 67.5 / 100, passed (pass mark 60 %)"), std::string::npos) << page;
  EXPECT_NE(page.find("```sh\nlabrig check . --task 1\n```\n"), std::string::npos);
  EXPECT_NE(page.find("| `bytes-up` | 1 | failed | 0 / 15 | "), std::string::npos) << page;
  for (const char* part : {"#### `bytes-up`: ", "- **What:** ", "- **Where:** ", "- **Cause:** ", "- **Next:** ",
                           "- **Evidence:** ", "### Environment"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("#### `values-right`"), std::string::npos);
}

TEST(Markdown, RendersEverySample) {
  for (const char* name : {"solution", "weights-every-batch", "crashed", "refused", "hazard", "amp"}) {
    const std::string page = render_markdown(sample(name));
    EXPECT_LT(page.size(), kMarkdownLimit);
    EXPECT_EQ(page.find("\n\n\n"), std::string::npos) << name;
    static_cast<void>(read_part(page));
  }
}

TEST(Markdown, GivesHostileTextsNoMeaning) {
  const std::string more =
      "a|b `c` ``` [x](https://evil.example) ![i](//e) @org/team #1 org/repo#2 GH-3 www.evil.example "
      ":tada: **b** __u__ ~~s~~ $x$ &lt; \\| \\` http://e a@b.example\n\n# h\n- l\n```\n</details>\n";
  for (const std::string& text : {hostile_text(), more, "```\n" + more, "- " + more, "@everyone " + more}) {
    const std::string page = render_markdown(with_every_text(text)), read = read_part(page);
    const std::string harmless = read_part(render_markdown(with_every_text(std::string(text.size(), 'x'))));
    EXPECT_EQ(count(read, "<"), count(read, "<br>")) << read;
    EXPECT_EQ(count(read, "|"), count(harmless, "|"));
    EXPECT_EQ(count(read, "\n"), count(harmless, "\n"));
    for (const char* part : {"@", "](", "://", "www.", "[", "~", "$", "GH-3", "&lt;", ":tada:", " #1", "repo#2"})
      EXPECT_EQ(read.find(part), std::string::npos) << part;
    EXPECT_EQ(count(read, "**"), count(harmless, "**"));
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(page).dump())) << "not UTF-8";
  }
}

TEST(Markdown, KeepsOutputInItsFence) {
  nlohmann::json report = sample("solution");
  report["cases"][0]["output"] = {{"text", "a\n```\n# b\n`````\n@c"}, {"cut", false}};
  EXPECT_NE(render_markdown(report).find("``````text\na\n```\n# b\n`````\n@c\n``````\n"), std::string::npos);
}

TEST(Markdown, KeepsHarmlessTextsFitToCopy) {
  nlohmann::json report = sample("solution");
  report["verdict"] = "twenty-chunks@desktop on sim:0 at 09:26:53, std::vector. dev@evil.example :ok: @x";
  EXPECT_NE(render_markdown(report).find("twenty-chunks&#64;desktop on sim:0 at 09:26:53, std::vector. "
                                         "dev&#64;&#8203;evil.example :&#8203;ok: &#64;&#8203;x\n"),
            std::string::npos);
}

TEST(Markdown, IsCutBetweenBlocks) {
  nlohmann::json report = with_every_text(std::string(3'000, '@'));
  const nlohmann::json checks = report["checks"];
  for (int i = 0; i < 30; ++i)
    for (const nlohmann::json& check : checks) report["checks"].push_back(check);
  const std::string page = render_markdown(report);
  EXPECT_LE(page.size(), kMarkdownLimit);
  EXPECT_GT(page.size(), kMarkdownLimit / 2);
  EXPECT_NE(page.find("\n_Cut here: "), std::string::npos);
  EXPECT_EQ(page.back(), '\n');
}

}  // namespace
}  // namespace labrig::reports::test
