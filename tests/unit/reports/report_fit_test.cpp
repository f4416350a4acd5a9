// Files that are no reports, and what is said of them: the places are named, with what is there and what may be. The
// answers are those of valijson with the same schema.
#include "report_fit.hpp"

#include <gtest/gtest.h>

#include <random>

#include "formats.hpp"
#include "render.hpp"
#include "report_schema.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

using Json = nlohmann::json;
using labrig::test::problems;

const char* const kSamples[] = {"solution", "weights-every-batch", "crashed", "hazard", "amp", "refused"};

std::string first_of(const Json& report) {
  const std::vector<Misfit> misfits = misfits_of(report);
  if (misfits.empty()) return "";
  return misfits[0].place + ": " + misfits[0].found + "; " + misfits[0].wanted + (misfits[0].grave ? "" : " (shown)");
}

Json changed(const char* place, const Json& value) {
  Json report = sample("weights-every-batch");
  report[Json::json_pointer(place)] = value;
  return report;
}

bool grave(const Json& report) {
  const std::vector<Misfit> misfits = misfits_of(report);
  return std::any_of(misfits.begin(), misfits.end(), [](const Misfit& one) { return one.grave; });
}

TEST(ReportFit, FindsNothingInWhatLabrigWrites) {
  for (const char* name : kSamples) {
    EXPECT_EQ(first_of(sample(name)), "") << name;
    EXPECT_EQ(first_of(student_view(sample(name))), "") << name;
  }
  Json fault = sample("solution");
  fault["score"] = nullptr, fault["next_step"] = nullptr;
  EXPECT_EQ(first_of(fault), "");
}

TEST(ReportFit, SaysWhereWhatIsThereAndWhatMayBe) {
  EXPECT_EQ(first_of(changed("/checks/0/points", -1)), "checks[0].points: -1; a number, 0 or more");
  EXPECT_EQ(first_of(changed("/checks/0/points", 1e308)), "checks[0].points: 1e+308; at most its max_points, 10");
  EXPECT_EQ(first_of(changed("/checks/0/task", "x")), "checks[0].task: \"x\"; a whole number, 0 or more");
  EXPECT_EQ(first_of(changed("/checks/0/status", "<b>")),
            "checks[0].status: \"<b>\"; one of passed, partial, failed, skipped, fault");
  EXPECT_EQ(first_of(changed("/score", "100")), "score: \"100\"; a number or null, 0 or more");
  EXPECT_EQ(first_of(changed("/score", 101)), "score: 101; at most its max_score, 100");
  EXPECT_EQ(first_of(changed("/schema", "labrig.report/2")), "schema: \"labrig.report/2\"; \"labrig.report/1\"");
  EXPECT_EQ(first_of(changed("/cases/1/metrics/launches", 1.5)),
            "cases[1].metrics.launches: 1.5; a whole number, 0 or more");
  EXPECT_EQ(first_of(changed("/cases/1/metrics/own", -1)), "cases[1].metrics.own: -1; a whole number, 0 or more");
  EXPECT_EQ(first_of(changed("/checks/2/id", "<b>\x1b")),
            "checks[2].id: \"<b>\\x1b\"; a text, of the shape ^[a-z0-9]+(-[a-z0-9]+)*$ (shown)");
  EXPECT_EQ(first_of(changed("/verdict", "")), "verdict: \"\"; a text, not empty (shown)");
  EXPECT_EQ(first_of(changed("/later", {1})), "later: a list of 1; no member of this name (shown)");
  Json report = sample("solution");
  report["lab"].erase("id"), report.erase("cases");
  EXPECT_EQ(first_of(report), "cases: missing; a list");
  EXPECT_EQ(misfits_of(report).at(1).place, "lab.id");
  EXPECT_EQ(first_of(Json::array()), ": a list of 0; an object");
}

TEST(ReportFit, ShowsTextsWhateverTheyAre) {
  for (const std::string& text :
       {hostile_text(), std::string(20'000, 'a'), std::string("a-") + std::string(9'000, '-')}) {
    EXPECT_FALSE(grave(with_every_text(text)));
    EXPECT_LE(misfits_of(with_every_text(text)).size(), 100u);
  }
}

Json* anywhere(Json& value, std::mt19937& random) {
  Json* at = &value;
  while (at->is_structured() && !at->empty() && random() % 5 != 0) {
    auto item = at->begin();
    std::advance(item, static_cast<std::ptrdiff_t>(random() % at->size()));
    at = &*item;
  }
  return at;
}

// Hundreds of reports in which something is of another type, out of range, missing or too much. Every format is made of
// them all the same: a program may use the library without this look.
TEST(ReportFit, AgreesWithValijsonOnHundredsOfBrokenReports) {
  const Json others[] = {nullptr, true, -1, 0, 1.5, "x", "", Json::array(), Json::object(), {1, 2, 3}, {{"x", 1}}};
  std::mt19937 random(3);  // NOLINT: the same ones every time
  Json base = sample("weights-every-batch");
  Json& cases = base["cases"];  // a visible one, and the last, which is hidden
  cases.erase(cases.begin() + 1, cases.end() - 1);
  base["checks"].erase(base["checks"].begin() + 3, base["checks"].end());
  for (const char* whose : {"submission", "reference"})
    for (const char* part : {"timeline", "memory"}) {
      Json& list = cases[0]["trace"][whose][part];
      list.erase(list.begin() + 2, list.end());
    }
  int broken = 0;
  for (int round = 0; round < 300; ++round) {
    Json report = base;
    Json* at = anywhere(report, random);
    const auto choice = random() % 4;
    if (choice == 0 && at->is_object() && !at->empty()) {
      auto item = at->begin();
      std::advance(item, static_cast<std::ptrdiff_t>(random() % at->size()));
      at->erase(item);
    } else if (choice == 1 && at->is_object()) {
      (*at)["more"] = 1;
    } else {
      *at = others[random() % std::size(others)];
    }
    std::vector<Misfit> misfits = misfits_of(report);
    // What the schema cannot say.
    std::erase_if(misfits, [](const Misfit& one) { return one.wanted.starts_with("at most its"); });
    EXPECT_EQ(misfits.empty(), problems(report).empty()) << first_of(report) << "\n" << problems(report);
    broken += misfits.empty() ? 0 : 1;
    if (!report.is_object()) continue;
    for (const Format format : formats_from("junit,gradescope,markdown,csv,trace,github,classroom"))
      EXPECT_FALSE(render(format, report).empty());
    if (HasFailure()) return;
  }
  EXPECT_GT(broken, 120);
}

}  // namespace
}  // namespace labrig::reports::test
