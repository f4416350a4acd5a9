// What stands on a report's page.
#include <gtest/gtest.h>

#include <array>

#include "html.hpp"
#include "render.hpp"
#include "samples.hpp"
#include "short_texts.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::test {
namespace {

using Json = nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Page, IsWholeWithoutItsScriptAndAnyOtherFile) {
  for (const std::string& name : sample_names()) {
    const std::string page = render_html(sample(name));
    EXPECT_NE(page.find("default-src 'none'; style-src 'sha256-"), std::string::npos);
    EXPECT_EQ(count(page, "unsafe-inline"), 0u);
    EXPECT_EQ(count(page, "<script"), 2u) << "the data, and the script";
    const std::string read = page.substr(0, page.find("<script"));
    for (const char* part : {"<link", "<img", "<iframe", "<button", "url(", "@import", "http://", "src=", " style="}) {
      EXPECT_EQ(read.find(part), std::string::npos) << name << ": " << part;
    }
    EXPECT_LT(page.size(), 500'000u) << name;
  }
}

Json data_of(const std::string& page) {
  const std::size_t from = page.find('>', page.find("id=\"report-data\"")) + 1;
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(Page, HoldsTheReportItWasMadeFrom) {
  EXPECT_EQ(data_of(render_html(sample("refused"))), sample("refused"));
  Json long_one = sample("amp");
  for (int i = 0; i < 6; ++i) long_one["cases"].push_back(long_one["cases"][0]);
  const std::string page = render_html(long_one);
  const Json data = data_of(page);
  EXPECT_TRUE(data.at("cases").at(0).at("trace").is_null());
  EXPECT_EQ(data.at("checks"), long_one.at("checks"));
  EXPECT_NE(page.find("is in it, shortened: timelines"), std::string::npos);
}

TEST(Page, HoldsHostileNamesAsDataThatReadsTheSame) {
  Json report = sample("refused");
  report["submission"]["name"] = "</script><!--<script>alert(1)</script> ]]> \x7f \xe2\x80\xae";
  const std::string page = render_html(report);
  EXPECT_EQ(data_of(page), report);
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos);
}

TEST(Page, SaysWhatChangedSinceAnEarlierReport) {
  const Json before = sample("weights-every-batch"), now = sample("solution");
  const std::string page = render_html(now, {.handout = "", .previous = &before});
  EXPECT_NE(page.find("67.5 → 100 points, 3 fixed."), std::string::npos);
  EXPECT_EQ(count(page, "<span class=\"chip\">fixed</span>"), 6u) << "in the list, and at each check";
  const std::string back = render_html(before, {.handout = "", .previous = &now});
  EXPECT_NE(back.find("100 → 67.5 points, 3 new failures."), std::string::npos);
  EXPECT_NE(back.find("<td>bytes up</td>"), std::string::npos) << "the metrics that changed";
  const std::string same = render_html(before, {.handout = "", .previous = &before});
  EXPECT_NE(same.find("67.5 → 67.5 points, 3 still failing."), std::string::npos);
  EXPECT_EQ(render_html(now).find("Since the last report"), std::string::npos);
}

TEST(Page, ComparesNothingWithAnotherLab) {
  const Json before = sample("amp"), now = sample("solution");
  const std::string page = render_html(now, {.handout = "", .previous = &before});
  EXPECT_NE(page.find("they are not compared"), std::string::npos);
  EXPECT_EQ(page.find("<span class=\"chip\">fixed</span>"), std::string::npos);
}

TEST(Page, SaysForWhomItIs) {
  const Json whole = sample("solution");
  EXPECT_NE(render_html(whole).find("The instructor&#39;s copy"), std::string::npos);
  EXPECT_NE(render_html(student_view(whole)).find("The student&#39;s copy"), std::string::npos);
}

TEST(Page, ShowsFailedChecksOpenThenPartialThenPassedFolded) {
  const std::string page = render_html(sample("weights-every-batch"));
  const auto failed = page.find("<h2>Failed checks"), partial = page.find("<h2>Partly passed"),
             passed = page.find("<h2>Passed");
  EXPECT_LT(failed, partial);
  EXPECT_LT(partial, passed);
  EXPECT_NE(page.find("<details class=\"card failed\" id=\"check-bytes-up\" open>"), std::string::npos);
  EXPECT_NE(page.find("<details class=\"card partial\" id=\"check-time\">"), std::string::npos);
  EXPECT_NE(page.find("<details class=\"folded\"><summary><h2>Passed"), std::string::npos);
}

TEST(Page, ShowsTheNextStepWithItsCommand) {
  const std::string page = render_html(sample("weights-every-batch"));
  EXPECT_NE(page.find("<code class=\"command\">labrig check . --task 1</code>"), std::string::npos);
  EXPECT_NE(page.find("href=\"#check-bytes-up\""), std::string::npos);
  EXPECT_EQ(render_html(sample("solution")).find("id=\"next\""), std::string::npos);
}

TEST(Page, NestsHintsSoThatTheyAreOpenedOneAtATime) {
  const std::string page = render_html(sample("weights-every-batch"));
  const auto first = page.find("Hint 1 of 3: a nudge"), second = page.find("Hint 2 of 3: the idea"),
             close = page.find("</details>", first);
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(second, close);
  EXPECT_EQ(page.find("Hint 1 of 3", page.find("<h2>Passed")), std::string::npos) << "passed checks need no hints";
}

TEST(Page, PutsChecksThatOnlyFollowUnderTheirCause) {
  const std::string page = render_html(sample("crashed"));
  EXPECT_EQ(count(page, "<details class=\"card failed\""), 1u);
  EXPECT_NE(page.find("<li class=\"failed\" id=\"check-time\">"), std::string::npos);
  EXPECT_NE(page.find("<h2>Failed checks <span class=\"muted\">7</span>"), std::string::npos);
}

TEST(Page, DrawsBandsForRatioRulesOnly) {
  const std::string page = render_html(sample("weights-every-batch"));
  EXPECT_NE(page.find("id=\"bands-time-t\""), std::string::npos);
  EXPECT_EQ(page.find("id=\"bands-bytes-up-t\""), std::string::npos);
}

TEST(Page, ShowsARatioWithoutEnd) {
  Json report = sample("weights-every-batch");
  report["checks"][5]["metrics"] = {{"value", 3}, {"reference", 0}, {"ratio", nullptr}, {"unit", ""}};
  EXPECT_NE(render_html(report).find("∞ earns 0 % of the points"), std::string::npos);
}

TEST(Page, HasATableForEveryChart) {
  const std::string page = render_html(sample("weights-every-batch"));
  EXPECT_EQ(count(page, "<svg class=\"chart timeline\""), count(page, "Timeline as a table"));
  EXPECT_EQ(count(page, "<svg class=\"chart memory\""), count(page, "Memory as a table"));
  EXPECT_EQ(count(page, "<svg class=\"chart timeline\""), 3u);
}

TEST(Page, ShowsEveryMetricOfACaseBesideTheReferences) {
  const Json report = sample("weights-every-batch");
  const std::string page = render_html(report);
  for (const auto& [name, value] : report["cases"][0]["metrics"].items())
    EXPECT_NE(page.find(name), std::string::npos) << name;
  const double bytes = report["cases"][0]["metrics"]["h2d_bytes"];
  EXPECT_NE(page.find("title=\"" + exact(bytes, "bytes") + "\">" + human(bytes, "bytes") + "</td>"), std::string::npos);
}

TEST(Page, UnfoldsTheCaseThatDecidedTheFirstLostCheck) {
  const std::string page = render_html(sample("weights-every-batch"));
  EXPECT_NE(page.find("id=\"case-sixteen-batches-desktop\" open>"), std::string::npos);
  EXPECT_EQ(count(page, "<details class=\"card case"), 12u);
}

TEST(Page, SaysOfACaseThatCameBackWhatItCost) {
  const std::string page = render_html(sample("weights-every-batch"));
  EXPECT_NE(page.find("points lost in bytes-up"), std::string::npos);
  EXPECT_EQ(render_html(sample("solution")).find("points lost in"), std::string::npos);
}

TEST(Page, SaysOnceWhatHazardsHaveInCommon) {
  Json report = sample("hazard");
  for (Json& item : report["cases"]) {
    if (item["hazards"].empty()) continue;
    Json second = item["hazards"][0], other = item["hazards"][0];
    second["buffer"] = "buffer 7";
    second["text"] = "hazard: operation 17 reads 'buffer 7'";
    other["text"] = "hazard: operation 9 reads 'buffer 1'";
    const std::size_t before = item["hazards"].size(),
                      sections = count(render_html(sample("hazard")), "<section class=\"hazard\"");
    item["hazards"].push_back(other);
    item["hazards"].push_back(second);
    const std::string page = render_html(report);
    EXPECT_EQ(count(page, "<section class=\"hazard\""), sections + 1);
    EXPECT_NE(page.find("<span data-hazard=\"" + std::to_string(before + 2) + "\">"), std::string::npos);
    return;
  }
  FAIL() << "the sample has no hazard";
}

TEST(Page, ShowsNoRatioOfANegativeFigure) {
  Json report = sample("weights-every-batch");
  for (Json& check : report["checks"]) check["metrics"] = {{"value", -0.2}, {"reference", 0.7}, {"ratio", 1e308}};
  EXPECT_EQ(render_html(report).find("0 % of the points"), std::string::npos);
}

TEST(Page, ShowsCapturedOutputEscapedAndCut) {
  const std::string page = render_html(sample("crashed"));
  EXPECT_NE(page.find("\\x1b[32mall tests passed, score 100\\x1b[0m"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;document.title"), std::string::npos);
  Json report = sample("crashed");
  report["cases"][0]["output"] = {{"text", std::string(10'000'000, 'x')}, {"cut", false}};
  EXPECT_LT(render_html(report).size(), 500'000u);
  report["submission"]["name"] = std::string(10'000'000, 'x');
  EXPECT_LT(render_html(report).size(), 500'000u);
}

TEST(Page, StaysSmallWhenEveryCasePrintsALot) {
  Json report = sample("weights-every-batch");
  std::string printed;
  for (int i = 0; i < 2000; ++i) printed += "batch " + std::to_string(i) + ": <loss> & \"accuracy\"\n";
  for (Json& item : report["cases"]) item["output"] = {{"text", printed}, {"cut", false}};
  const std::string page = render_html(report);
  EXPECT_LT(page.size(), 500'000u);
  EXPECT_NE(page.find("batch 0:"), std::string::npos);
  EXPECT_NE(page.find("batch 1999:"), std::string::npos) << "what was printed last says most";
  EXPECT_NE(page.find("bytes left out) …"), std::string::npos);
  EXPECT_NE(page.find("Long texts are cut in this page"), std::string::npos);
  EXPECT_EQ(render_html(sample("crashed")).find("Long texts are cut"), std::string::npos);
}

// Adds `tail` to every text of which nothing else depends.
void lengthen(Json& value, const std::string& tail) {
  for (const auto& [key, item] : value.items()) {
    const bool word = key == "schema" || key == "status" || key == "visibility" || key == "phase" || key == "id" ||
                      key == "kind" || key == "case" || key == "check";
    if (item.is_structured()) lengthen(item, tail);
    if (item.is_string() && !word) item = item.get<std::string>() + tail;
  }
}

TEST(Page, StaysSmallWhenEveryTextIsHostile) {
  std::string hostile;
  for (int i = 0; i < 1000; ++i) hostile += "\xe2\x80\xae<&>\x1b";
  for (const std::string& name : sample_names()) {
    Json report = sample(name);
    lengthen(report, hostile);
    EXPECT_LT(render_html(report).size(), 500'000u) << name;
  }
}

TEST(ShortTexts, CutNoCharacterInTwo) {
  const std::string text = "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac";  // four signs of three bytes
  for (std::size_t limit = 1; limit < text.size(); ++limit) {
    const Json cut = with_short_texts({{"name", text}, {"output", {{"text", text}, {"cut", false}}}}, {limit, limit});
    EXPECT_NO_THROW(cut.dump()) << limit;
    EXPECT_NE(cut["name"], text);
    EXPECT_NE(cut["output"]["text"], text);
    EXPECT_EQ(cut["output"]["cut"], false);
  }
  EXPECT_EQ(with_short_texts({{"name", text}}, {text.size(), 1})["name"], text);
}

TEST(Page, SaysWhoseCopyItIs) {
  const Json report = sample("weights-every-batch");
  EXPECT_NE(render_html(report).find("The instructor&#39;s copy"), std::string::npos);
  EXPECT_NE(render_html(student_view(report)).find("The student&#39;s copy"), std::string::npos);
}

TEST(Page, LinksTheHandoutWhenToldWhereItIs) {
  const Json report = sample("weights-every-batch");
  EXPECT_NE(render_html(report).find("section task-1"), std::string::npos);
  EXPECT_NE(render_html(report, {"handout.html"}).find("href=\"handout.html#task-1-score-the-batches\""),
            std::string::npos);
  EXPECT_EQ(render_html(report, {"javascript:alert(1)"}).find("href=\"javascript"), std::string::npos);
}

TEST(Page, QuotesANameInTheCommandThatRunsItAgain) {
  Json report = sample("solution");
  report["submission"]["name"] = "a'; rm -rf ~ #";
  EXPECT_NE(render_html(report).find("labrig grade &#39;a&#39;\\&#39;&#39;; rm -rf ~ #&#39; --lab transfer-cost"),
            std::string::npos);
  EXPECT_EQ(shell_word("plain-name_1"), "plain-name_1");
  EXPECT_EQ(shell_word("--help"), "'--help'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Page, SaysThatAFaultIsNotTheSubmissions) {
  Json report = sample("solution");
  report["score"] = nullptr;
  report["passed"] = false;
  for (Json& check : report["checks"]) check["status"] = "fault", check["points"] = 0;
  const std::string page = render_html(report);
  EXPECT_NE(page.find("not the submission's"), std::string::npos);
  EXPECT_NE(page.find("<h2>Could not be judged"), std::string::npos);
  EXPECT_EQ(page.find("class=\"score-bar"), std::string::npos);
}

TEST(Page, RendersWhateverIsMissing) {
  EXPECT_NE(render_html(Json::object()).find("</html>"), std::string::npos);
  for (const std::string& name : sample_names()) {
    const Json whole = sample(name);
    for (const auto& [key, value] : whole.items()) {
      for (const Json& instead : {Json(), Json(7), Json("x"), Json::array({1, "x", nullptr}), Json::object()}) {
        Json report = whole;
        report[key] = instead;
        EXPECT_NE(render_html(report).find("</html>"), std::string::npos) << name << " " << key;
      }
    }
  }
  EXPECT_THROW(render_html(Json::array()), Json::exception);
}

TEST(Page, StaysSmallWithLongTracesInEveryCase) {
  Json report = sample("weights-every-batch");
  Json spans = Json::array();
  for (int i = 0; i < 4096; ++i) {
    const char* lane = std::array{"host", "up", "compute", "down"}[static_cast<std::size_t>(i % 4)];
    spans.push_back({{"lane", lane},
                     {"stream", 0},
                     {"start_ps", i * 1000},
                     {"end_ps", i * 1000 + (i * 7919) % 6000},
                     {"bytes", 4096},
                     {"name", "operation " + std::to_string(i % 300)}});
  }
  for (Json& item : report["cases"]) {
    for (const char* side : {"submission", "reference"})
      item["trace"][side] = {
          {"timeline", spans}, {"memory", report["cases"][0]["trace"]["submission"]["memory"]}, {"cut", true}};
  }
  EXPECT_LT(render_html(report).size(), 500'000u);
}

}  // namespace
}  // namespace labrig::reports::test
