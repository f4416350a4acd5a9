// The comment for GitHub: complete, and nothing of a submission means anything in it.
#include <gtest/gtest.h>
#include <md4c-html.h>

#include "format_renderers.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::string html_of(const std::string& page) {
  std::string out;
  const auto add = [](const MD_CHAR* text, MD_SIZE size, void* to) {
    static_cast<std::string*>(to)->append(text, size);
  };
  const unsigned flags = MD_DIALECT_GITHUB | MD_FLAG_LATEXMATHSPANS | MD_FLAG_WIKILINKS;
  EXPECT_EQ(md_html(page.data(), static_cast<MD_SIZE>(page.size()), add, &out, flags, 0), 0);
  return out;
}

// In order, without breaks and code spans: whether an id is code depends on its signs.
std::string tags_of(const std::string& html) {
  std::string tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::string tag = html.substr(at, html.find('>', at) - at + 1);
    if (tag != "<br>" && tag != "<code>" && tag != "</code>") tags += tag;
  }
  return tags;
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
    const std::string page = render_markdown(sample(name)), html = html_of(page);
    EXPECT_LT(page.size(), kCommentLimit);
    EXPECT_EQ(page.find("\n\n\n"), std::string::npos) << name;
    EXPECT_EQ(count(html, "<tr>"), sample(name)["checks"].size() + 11) << "a row for each, and the environment";
    for (const char* tag : {"<a ", "<img", "<em>", "<del>", "<x-"}) EXPECT_EQ(count(html, tag), 0u) << name << tag;
  }
}

TEST(Markdown, GivesHostileTextsNoMeaning) {
  const std::string more =
      "a|b `c` ``` [x](https://evil.example) ![i](//e) @org/team #1 org/repo#2 GH-3 www.evil.example "
      ":tada: **b** __u__ ~~s~~ $x$ &lt; \\| \\` http://e a@b.example\n\n# h\n- l\n```\n</details>\n";
  const std::string harmless = tags_of(html_of(render_markdown(with_every_text("x"))));
  for (const std::string& text : {hostile_text(), more, "```\n" + more, "- " + more, "@everyone " + more}) {
    const std::string page = render_markdown(with_every_text(text));
    EXPECT_EQ(tags_of(html_of(page)), harmless) << page;
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(page).dump())) << "not UTF-8";
  }
}

TEST(Markdown, SaysWhyLabrigCouldNotGrade) {
  nlohmann::json report = sample("solution");
  report["score"] = nullptr;
  for (nlohmann::json& check : report["checks"])
    check["status"] = "fault",
    check["reason"] = {{"code", "plugin-file"}, {"text", "this file is not a shared library"}};
  report["checks"][3]["reason"]["text"] = "<b>another";
  const std::string page = render_markdown(report);
  EXPECT_NE(page.find("### Why there are no points\n\n- `values-right` and 7 more: this file is not a shared library\n"
                      "- `one-fetch`: &lt;b>another\n"),
            std::string::npos)
      << page;
  EXPECT_EQ(render_markdown(sample("crashed")).find("### Why there are no points"), std::string::npos);
}

TEST(Markdown, KeepsOutputInItsFence) {
  nlohmann::json report = sample("solution");
  report["cases"][0]["output"] = {{"text", "a\n```\n# b\n`````\n@c"}, {"cut", false}};
  EXPECT_NE(render_markdown(report).find("``````text\na\n```\n# b\n`````\n@c\n``````\n"), std::string::npos);
}

TEST(Markdown, KeepsHarmlessTextsFitToCopy) {
  nlohmann::json report = sample("solution");
  report["verdict"] = "twenty-chunks@desktop on sim:0 at 09:26:53, std::vector. dev@evil.example :ok: @x";
  EXPECT_NE(render_markdown(report).find("twenty-chunks@desktop on sim:0 at 09:26:53, std::vector. "
                                         "dev@&#8203;evil.example :&#8203;ok: @&#8203;x\n"),
            std::string::npos);
}

// Thousands of checks, lost and passed: what is left out is counted, and the environment still stands at the end.
TEST(Markdown, IsCutBetweenBlocksAndSaysWhatIsMissing) {
  nlohmann::json report = sample("weights-every-batch");
  const nlohmann::json lost_check = report["checks"][1], passed = report["checks"][0];
  report["checks"] = nlohmann::json::array();
  for (int i = 0; i < 20'000; ++i) {
    report["checks"].push_back(i % 2 == 0 ? lost_check : passed);
    report["checks"].back()["id"] = "check-" + std::to_string(i);
    if (i % 2 == 0) report["checks"].back()["reason"]["text"] = "reason " + std::to_string(i);
  }
  for (const std::size_t limit : {kCommentLimit, std::size_t{1'000'000}}) {
    const std::string page = render_markdown(report, limit), html = html_of(page);
    EXPECT_LE(page.size(), limit);
    EXPECT_GT(page.size(), limit * 8 / 10);
    const std::size_t rows = count(html, "<td><code>check-"), told = count(html, "<h4><code>check-");
    EXPECT_NE(html.find("<td>" + std::to_string(20'000 - rows) + " more checks do not fit here"), std::string::npos);
    EXPECT_NE(html.find("<p>Why " + std::to_string(10'000 - told) + " more checks lost points"), std::string::npos);
    EXPECT_GT(rows, 100u);
    EXPECT_GT(told, 20u);
    EXPECT_NE(html.find("<h3>Environment</h3>"), std::string::npos);
  }
}

// The longest texts that a report can hold, each sign of which takes the most room.
TEST(Markdown, FitsWhateverTheTextsAre) {
  for (const char* sign : {"@", "#", ":a", "&1", "\n", "`", "\x01", "\xf0\x9f\x98\x80"}) {
    std::string text;
    while (text.size() < 3000) text += sign;
    const std::string page = render_markdown(with_every_text(text));
    EXPECT_LE(page.size(), kCommentLimit) << sign;
    EXPECT_EQ(page.find("## Lab "), 0u);
    EXPECT_NE(page.find("**Score:** 67.5 / 100"), std::string::npos) << sign;
    EXPECT_NE(page.find("not fit here"), std::string::npos) << sign;
  }
}

}  // namespace
}  // namespace labrig::reports::test
