// The table of checks, read back with a reader of RFC 4180.
#include <gtest/gtest.h>

#include "format_renderers.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& csv) {
  Rows rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    std::string& cell = rows.back().back();
    if (quoted && c == '"' && csv.substr(i + 1, 1) == "\"") {
      cell += '"', ++i;
    } else if (c == '"') {
      EXPECT_TRUE(quoted || cell.empty());
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\r') {
      EXPECT_EQ(csv.substr(i + 1, 1), "\n");
      rows.push_back({""}), ++i;
    } else {
      EXPECT_TRUE(quoted || c != '\n');
      cell += c;
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(rows.back(), Rows::value_type{""}) << "does not end in a line break";
  rows.pop_back();
  return rows;
}

TEST(Csv, HasARowACheck) {
  for (const char* name : {"solution", "weights-every-batch", "crashed", "refused", "hazard", "amp"}) {
    const nlohmann::json report = sample(name);
    const Rows rows = rows_of(render_csv(report));
    ASSERT_EQ(rows.size(), report["checks"].size() + 1) << name;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const nlohmann::json& check = report["checks"][i - 1];
      ASSERT_EQ(rows[i].size(), 13U);
      EXPECT_EQ(rows[i][0], report["lab"]["id"].get<std::string>());
      EXPECT_EQ(rows[i][3], report["submission"]["hash"].get<std::string>());
      EXPECT_EQ(rows[i][4], check["id"].get<std::string>());
      EXPECT_EQ(std::stod(rows[i][8]), check["points"].get<double>());
      EXPECT_EQ(rows[i][12], check["visibility"].get<std::string>());
    }
  }
}

TEST(Csv, HoldsNoFormula) {
  for (const char* prefix : {"=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "\n ="}) {
    nlohmann::json report = sample("weights-every-batch");
    const std::string text = prefix + std::string("cmd|' /C calc'!A0");
    report["submission"]["name"] = text;
    for (nlohmann::json& check : report["checks"]) {
      check["title"] = text;
      check["reason"] = {{"code", text}, {"text", text}};
    }
    for (const auto& row : rows_of(render_csv(report)))
      for (const std::string& cell : row) {
        const std::size_t first = cell.find_first_not_of(' ');
        const char start = first == std::string::npos ? 'x' : cell[first];
        EXPECT_EQ(std::string("=+-@\t\r").find(start), std::string::npos) << cell;
      }
  }
}

TEST(Csv, HoldsNoFormulaOfFullWidth) {
  nlohmann::json report = sample("solution");
  for (const char* sign : {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"}) {
    report["checks"][0]["title"] = std::string(" ") + sign + "SUM(A1)";
    EXPECT_EQ(rows_of(render_csv(report))[1][6].front(), '\'') << sign;
  }
  report["checks"][0]["title"] = "\xef\xbc\xa1 title";
  EXPECT_EQ(rows_of(render_csv(report))[1][6], "\xef\xbc\xa1 title");
}

TEST(Csv, LeavesNumbersAlone) {
  nlohmann::json report = sample("solution");
  report["checks"][0]["points"] = -2.5;
  report["checks"][0]["task"] = -1;
  const Rows rows = rows_of(render_csv(report));
  EXPECT_EQ(rows[1][8], "-2.5");
  EXPECT_EQ(rows[1][5], "-1");
}

TEST(Csv, KeepsHostileTextsInTheirCells) {
  for (const std::string& text : {hostile_text(), std::string("a\"b,c;d\r\ne\nf"), std::string("\"\r\n\"=1")}) {
    const std::string csv = render_csv(with_every_text(text));
    const Rows rows = rows_of(csv);
    EXPECT_EQ(rows.size(), sample("weights-every-batch")["checks"].size() + 1);
    for (const auto& row : rows) EXPECT_EQ(row.size(), 13U);
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(csv).dump())) << "not UTF-8";
    EXPECT_NE(csv.substr(0, 3), "\xef\xbb\xbf");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(rows.size()));
  }
}

}  // namespace
}  // namespace labrig::reports::test
