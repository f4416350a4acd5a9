// Nothing that comes from a submission or a lab gets out of its place on the page.
#include <gtest/gtest.h>

#include "render.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

// Well-formed UTF-8, no control characters beyond newline and tab, none that reorder text.
void expect_clean(const std::string& page) {
  for (const char c : page) {
    const auto u = static_cast<unsigned char>(c);
    ASSERT_TRUE(u >= 0x20 || c == '\n' || c == '\t') << static_cast<int>(u);
  }
  EXPECT_NO_THROW(static_cast<void>(nlohmann::json(page).dump())) << "not UTF-8";
  for (const char* mark : {"\u202e", "\u2066", "\u200b"}) EXPECT_EQ(page.find(mark), std::string::npos);
}

std::string tags_of(const std::string& page) {
  std::string tags;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    tags += page.substr(at, page.find_first_of(" >", at) - at);
  }
  return tags;
}

TEST(HostileReport, HasTheSameTagsAsAHarmlessOne) {
  // Long enough to be cut and wrapped the same way.
  const std::string harmless(hostile_text().size(), 'x');
  const std::string page = render_html(with_every_text(hostile_text()));
  EXPECT_EQ(tags_of(page), tags_of(render_html(with_every_text(harmless))));
  expect_clean(page);
}

TEST(HostileReport, FillsNoTemplateTags) {
  const std::string page = render_html(with_every_text("{{verdict}}{{{css}}}{{>head.mustache}}{{#checks}}"));
  EXPECT_NE(page.find("{{verdict}}{{{css}}}"), std::string::npos);
}

TEST(HostileReport, MayBeHuge) {
  const std::string page = render_html(with_every_text(std::string(100'000, '<')));
  EXPECT_EQ(page.find("<<"), std::string::npos);
}

TEST(HostileReport, HasACleanStudentView) { expect_clean(render_html(student_view(with_every_text(hostile_text())))); }

}  // namespace
}  // namespace labrig::reports::test
