// The overview of many reports.
#include <gtest/gtest.h>

#include "render.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

TEST(IndexRow, IsFilledFromAReport) {
  const IndexRow row = index_row(sample("weights-every-batch"), "w/report.html");
  EXPECT_EQ(row.lab, "transfer-cost");
  EXPECT_EQ(row.name, "weights-every-batch");
  EXPECT_EQ(row.score, 67.5);
  EXPECT_TRUE(row.passed);
  EXPECT_EQ(row.lost, (std::vector<std::string>{"bytes-up", "copies-up", "time"}));
}

TEST(Index, LinksEachReportAndCountsThoseThatCameOutAsExpected) {
  IndexRow right = index_row(sample("solution"), "solution/report.html"),
           wrong = index_row(sample("crashed"), "x/report.html");
  right.matched = true, wrong.matched = false, wrong.expected = "loses time";
  const std::string page = render_index({right, wrong}, {"Demo", "two rows"});
  EXPECT_NE(page.find("href=\"solution/report.html\""), std::string::npos);
  EXPECT_NE(page.find("1 of 2 came out as expected"), std::string::npos);
  EXPECT_NE(page.find("not as expected"), std::string::npos);
  EXPECT_NE(page.find("loses time"), std::string::npos);
}

TEST(Index, ShowsTheLabOnlyWhenThereAreSeveral) {
  IndexRow first = index_row(sample("solution"), "a.html"), second = first;
  EXPECT_EQ(render_index({first, second}).find("<th scope=\"col\">lab</th>"), std::string::npos);
  second.lab = "amp";
  EXPECT_NE(render_index({first, second}).find("<th scope=\"col\">lab</th>"), std::string::npos);
}

TEST(Index, EscapesEveryText) {
  IndexRow row;
  row.lab = row.name = row.role = row.verdict = row.expected = hostile_text();
  row.link = "javascript:alert(1)";
  row.lost = {hostile_text()};
  const std::string page = render_index({row}, {hostile_text(), hostile_text()});
  EXPECT_EQ(page.find("<script"), page.rfind("<script")) << "the page's own";
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("href=\"javascript"), std::string::npos);
}

TEST(Index, IsAPageAlsoWithoutRows) { EXPECT_NE(render_index({}).find("<b>0 reports</b>"), std::string::npos); }

}  // namespace
}  // namespace labrig::reports::test
