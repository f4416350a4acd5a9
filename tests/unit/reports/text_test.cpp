// printable(): what it lets through and what it turns into escapes.
#include "text.hpp"

#include <gtest/gtest.h>

namespace labrig::reports {
namespace {

using namespace std::string_literals;

TEST(Printable, KeepsOrdinaryTextOfAnyScript) {
  const std::string text = "matmul(a, b) 3 µs \u65e5\u672c \u05e9\u05dc\u05d5\u05dd \U0001F600";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsControlCharactersAsEscapes) {
  EXPECT_EQ(printable("\x1b[31mred\x07\x7f"s), "\\x1b[31mred\\x07\\x7f");
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(printable("\u0085"s), "\\u0085");
}

TEST(Printable, KeepsNewlinesAndTabsOnlyWhereLinesAreWanted) {
  EXPECT_EQ(printable("a\n\tb\r"s, Lines::many), "a\n\tb\\x0d");
  EXPECT_EQ(printable("a\n\tb"s, Lines::one), "a\\x0a\\x09b");
}

TEST(Printable, ShowsWhatReordersOrHidesText) {
  EXPECT_EQ(printable("\u202eabc\u2066\u200b\ufeff\u2028"s), "\\u202eabc\\u2066\\u200b\\ufeff\\u2028");
  EXPECT_EQ(printable("\U000e0041"s), "\\U000e0041");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff"s), "\\xff");
  EXPECT_EQ(printable("\xc0\xaf"s), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"s), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"s), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(printable("\xe2\x82"s), "\\xe2\\x82");                    // cut short
}

TEST(Printable, KeepsFourCombiningMarksOfAPile) {
  std::string pile = "e";
  for (int i = 0; i < 6; ++i) pile += "\u0301";
  EXPECT_EQ(printable(pile), "e\u0301\u0301\u0301\u0301\\u0301\\u0301");
}

TEST(Printable, CutsAtTheLimitBetweenCharactersAndSaysHowMuchIsLeftOut) {
  EXPECT_EQ(printable("abcdef", Lines::one, 4), "abcd… (2 more bytes)");
  EXPECT_EQ(printable("ab\u20ac"s, Lines::one, 4), "ab… (3 more bytes)");
  EXPECT_LT(printable(std::string(10'000'000, 'x')).size(), kLineLimit + 40);
}

TEST(EscapeHtml, EscapesTheFiveCharactersThatMeanSomething) {
  EXPECT_EQ(escape_html("<a b=\"c\" d='e'>&"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
}

TEST(SafeLink, TakesRelativePathsAndHttpsOnly) {
  EXPECT_EQ(safe_link("handout.html#task-1"), "handout.html#task-1");
  EXPECT_EQ(safe_link("../a/b c.html"), "../a/b c.html");
  EXPECT_EQ(safe_link("https://example.org/x?a=1"), "https://example.org/x?a=1");
  for (const char* bad : {"javascript:alert(1)", "JAVASCRIPT:x", "data:text/html,x", "http://example.org",
                          "//example.org/x", "a\"b", "a<b", "java\nscript:x"}) {
    EXPECT_EQ(safe_link(bad), "") << bad;
  }
}

TEST(Anchor, KeepsOnlyWhatAnIdMayHave) { EXPECT_EQ(anchor("small batches@h200\"><"), "small-batches-h200---"); }

}  // namespace
}  // namespace labrig::reports
