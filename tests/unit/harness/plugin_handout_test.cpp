// Handouts as pages: one file, with an anchor at every heading that a report may point to.
#include <gtest/gtest.h>

#include "build/handout_page.hpp"

namespace labrig::handout {
namespace {

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

TEST(Handout, TakesItsTitleFromTheFirstHeading) {
  EXPECT_TRUE(has(to_page("# Scale & *shift*\n\ntext"), "<title>Scale &amp; shift</title>"));
}

TEST(Handout, HasAnAnchorAtEveryHeading) {
  const std::string page =
      to_page("# Lab\n\n## When it goes wrong\n\n## Task 2: Fetch once\n\n## Notes {#end}\n\n## Lab\n");
  for (const char* id : {"id=\"lab\"", "id=\"when-it-goes-wrong\"", "id=\"task-2\"", "id=\"task-2-fetch-once\"",
                         "id=\"end\"", "id=\"lab-1\""})
    EXPECT_TRUE(has(page, id)) << id << "\n" << page;
  EXPECT_FALSE(has(page, "{#"));
}

TEST(Handout, KeepsAPictureAsItIs) {
  const std::string picture =
      "<figure>\n<svg viewBox=\"0 0 10 10\" role=\"img\" aria-label=\"a bus\">\n<path d=\"M0 0L9 "
      "9\"/>\n</svg>\n</figure>\n";
  EXPECT_TRUE(has(to_page("# Lab\n\n" + picture + "\ntext\n"), picture));
}

TEST(Handout, NeverBreaksALineInsideAnArrow) {
  EXPECT_TRUE(has(to_page("# Lab\n\nCall `scaler->step()`."),
                  "<code>scaler<span class=\"operator\">-&gt;</span>step()</code>"));
}

TEST(Handout, LetsWhatIsWideScrollFromTheKeyboard) {
  const std::string page = to_page("# Lab\n\n| a |\n|---|\n| 1 |\n\n```cpp\nint a;\n```\n");
  EXPECT_TRUE(has(page, "role=\"group\" aria-label=\"table\"><table>")) << page;
  EXPECT_TRUE(has(page, "</table></div>")) << page;
  EXPECT_TRUE(has(page, "<pre tabindex=\"0\"><code")) << page;
}

TEST(Handout, NeedsNothingFromOutside) {
  const std::string page = to_page("# Lab\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```cpp\nif (a < b) return;\n```\n");
  EXPECT_TRUE(has(page, "<table>"));
  EXPECT_TRUE(has(page, "a &lt; b"));
  for (const char* outside : {"<script", "http://", "https://", "@import", "url("})
    EXPECT_FALSE(has(page, outside)) << outside;
}

}  // namespace
}  // namespace labrig::handout
