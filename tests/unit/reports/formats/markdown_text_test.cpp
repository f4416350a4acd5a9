// Texts of others inside Markdown, read by md4c with every extension that it has: they come out as they went in, and
// nothing of them becomes a link, a picture, a formula, a mention or a second cell.
#include <gtest/gtest.h>
#include <md4c-html.h>

#include <random>
#include <regex>

#include "markdown_text.hpp"
#include "samples.hpp"
#include "text.hpp"

namespace labrig::reports::test {
namespace {

using markdown::escaped;

std::string html_of(const std::string& page) {
  std::string out;
  const auto add = [](const MD_CHAR* text, MD_SIZE size, void* to) {
    static_cast<std::string*>(to)->append(text, size);
  };
  const unsigned flags = MD_DIALECT_GITHUB | MD_FLAG_LATEXMATHSPANS | MD_FLAG_WIKILINKS | MD_FLAG_UNDERLINE;
  EXPECT_EQ(md_html(page.data(), static_cast<MD_SIZE>(page.size()), add, &out, flags, 0), 0);
  return out;
}

std::string without(std::string text, const std::string& part, const std::string& instead = "") {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + instead.size()))
    text.replace(at, part.size(), instead);
  return text;
}

std::string tags_of(const std::string& html) {
  std::string tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1))
    tags += html.substr(at, html.find('>', at) - at + 1);
  return without(tags, "<br>");
}

// What a reader sees; the gaps of no width stay.
std::string seen(const std::string& html) {
  std::string text = std::regex_replace(without(html, "<br>", "\n"), std::regex("<[^>]*>"), "");
  for (const auto& [entity, sign] : {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    text = without(text, entity, sign);
  return text;
}

// Everywhere that a page has running text.
std::string page_of(const std::string& text) {
  return "## Lab `x`: " + text + "\n\n**Verdict:** " + text + "\n\n| A | B |\n|---|---|\n| `x` | " + text +
         " (hidden) |\n| `y` | z |\n\n#### `x`: " + text + "\n\n- **What:** " + text + "\n- **Next:** `y`\n";
}

void expect_plain(const std::string& text) {
  const std::string html = html_of(page_of(escaped(text)));
  ASSERT_EQ(tags_of(html), tags_of(html_of(page_of("z")))) << text << "\n" << escaped(text) << "\n" << html;
  const std::string read = seen(html);
  std::size_t found = 0;
  const std::string bare = without(read, "\u200b");
  for (std::size_t at = bare.find(text); at != std::string::npos; at = bare.find(text, at + 1)) ++found;
  ASSERT_GE(found, 5u) << text << "\n" << escaped(text) << "\n" << html;
  // What GitHub and GitLab look for in the text that was read.
  static const std::regex reference(
      R"((^|[^A-Za-z0-9])@[A-Za-z0-9]|[A-Za-z0-9]@[A-Za-z0-9_-]+[./@][A-Za-z0-9]|@[0-9a-f]{7,40}\b|[#&$][0-9]|[!~%][A-Za-z0-9_"]|[Gg][Hh]-[0-9]|://|[Ww][Ww][Ww]\.|:[A-Za-z0-9_+-]*[A-Za-z_+-][A-Za-z0-9_+-]*:|[+-][}\]])");
  std::smatch match;
  ASSERT_FALSE(std::regex_search(read, match, reference)) << match.str() << " in " << text << "\n" << escaped(text);
}

TEST(MarkdownText, ComesOutAsItWentIn) {
  for (const char* text : {"[x](https://evil.example)",
                           "![i](//e)",
                           "@org/team",
                           "a @b c",
                           "#1",
                           "org/repo#2",
                           "GH-3",
                           "gh-3",
                           "www.evil.example",
                           "WWW.evil.example",
                           ":tada:",
                           "**b**",
                           "__u__",
                           "_i_",
                           "*i*",
                           "~~s~~",
                           "~s~",
                           "$x$",
                           "$$x$$",
                           "`c`",
                           "``` c",
                           "a|b",
                           "a\\|b",
                           "a\\\\|b",
                           "\\",
                           "\\\\",
                           "a\\",
                           "\\<b>",
                           "&lt;",
                           "&#91;",
                           "&amp;lt;",
                           "&",
                           "& b",
                           "<b>x</b>",
                           "<!-- x",
                           "<a@b.example>",
                           "<https://e>",
                           "< 3",
                           "<3",
                           "<",
                           "a <",
                           "http://e",
                           "ftp://e",
                           "a@b.example",
                           "mailto:a@b.example",
                           "[[wiki]]",
                           "[^1]",
                           "[^1]: x",
                           "[issue:1]",
                           "!2",
                           "~3",
                           "~bug",
                           "%4",
                           "&5",
                           "$6",
                           "^alert#7",
                           "a@1234567",
                           "org/repo@0123abcd",
                           "{+ a +}",
                           "[- a -]",
                           "x #",
                           "# h",
                           "- l",
                           "1. l",
                           "> q",
                           "===",
                           "---",
                           "+++",
                           "```",
                           "~~~",
                           "\t",
                           "a  b",
                           "a*b*c",
                           "2 * 3 * 4",
                           "snake_case_name",
                           "_a_b_",
                           "x_",
                           "twenty-chunks@desktop",
                           "09:26:53",
                           "std::vector",
                           "\\x1b[31m",
                           "\\u202e",
                           "$(reboot)",
                           "<br>",
                           "|",
                           "||",
                           "[ ]",
                           "[x]",
                           "]",
                           "](x)",
                           "a]: x",
                           "</td></tr></table>",
                           "@everyone",
                           "a:b:c",
                           "::error::x",
                           "\"q\"",
                           "'q'",
                           "\xc3\xa9_x_\xc3\xa9",
                           "x\xe2\x80\xa6 (3 more bytes)"}) {
    if (std::string(text) == "\t") continue;
    expect_plain(text);
  }
}

TEST(MarkdownText, StaysOnItsLine) {
  const std::string text = "a\n# h\n\n- l\n```\n| x |\n    code";
  const std::string html = html_of(page_of(escaped(text)));
  EXPECT_EQ(tags_of(html), tags_of(html_of(page_of("z")))) << html;
  EXPECT_NE(seen(html).find(text), std::string::npos) << seen(html);
}

TEST(MarkdownText, ComesOutAsItWentInForThousandsOfTexts) {
  const std::vector<std::string> pieces = {
      "*",  "**", "_",  "__", "~",  "~~",  "`",    "``", "[",  "]",  "(",   ")",   "<",        ">",      "!",    "#",
      "|",  "\\", "$",  "$$", "&",  ";",   ":",    "@",  "%",  "+",  "-",   "=",   "{",        "}",      "^",    "'",
      "\"", "/",  "//", ".",  ",",  "?",   " ",    " ",  "a",  "b",  "GH",  "www", "http",     "lt",     "x1",   "7",
      "é",  "x",  "br", "![", "](", "://", "&#6;", "--", "]]", "[[", "\\|", "\n",  "deadbeef", "mailto", "amp;", "0"};
  std::mt19937 random(5);  // NOLINT: the same ones every time
  for (int round = 0; round < 6000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 14; i > 0; --i) text += pieces[random() % pieces.size()];
    // Blanks at the ends of a line are not shown.
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.erase(0, 1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
    if (text.empty() || text.find(" \n") != std::string::npos || text.find("\n ") != std::string::npos) continue;
    expect_plain(text);
    if (HasFatalFailure()) return;
  }
}

TEST(MarkdownText, IsReadableAsItIs) {
  for (const char* text :
       {"shapes 2 x 3 and 4: time_ps is 2 * 3 > 5, \"far\" from it", "twenty-chunks@desktop on sim:0",
        "std::vector at 09:26:53 & more; 5 < 7, a -> b", "\\x1b, \\u202e and C:\\x"})
    EXPECT_EQ(escaped(text), text);
  EXPECT_EQ(escaped("first at [37, 95]"), "first at \\[37, 95]");
  EXPECT_EQ(escaped("<script>alert(1)</script>"), "&lt;script>alert(1)&lt;/script>");
}

}  // namespace
}  // namespace labrig::reports::test
