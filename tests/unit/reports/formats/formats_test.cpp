// Every other format: what stands in it, and that no text of a submission can get out of its place. The files
// themselves are read by programs that are not ours in tests/formats.
#include "formats.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "samples.hpp"

namespace labrig::reports {
namespace {

using nlohmann::json;
using test::sample;

const Format kAll[] = {Format::html, Format::json,  Format::junit,  Format::gradescope, Format::markdown,
                       Format::csv,  Format::trace, Format::github, Format::classroom};
const char* const kSamples[] = {"solution", "weights-every-batch", "crashed", "hazard", "amp", "refused"};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// What Classroom's reporter makes of the variable: it decodes, and adds up.
json from_base64(const std::string& text) {
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') break;
    held = held << 6 | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits >= 8) out += static_cast<char>(held >> (bits -= 8) & 0xff);
  }
  return json::parse(out);
}

double stored_sum(const json& payload) {
  return std::accumulate(payload.at("tests").begin(), payload.at("tests").end(), 0.0,
                         [](double sum, const json& test) { return sum + test.at("score").get<double>(); });
}

std::string log_of(const json& report, std::string_view file, Readers readers = Readers::students) {
  MessagesLeft left;
  return github_annotations(report, file, readers, left);
}

TEST(Formats, AreNamedInAnyOrderAndOnce) {
  EXPECT_EQ(formats_from("junit,html,junit"), (std::vector{Format::junit, Format::html}));
  for (const Format format : kAll) EXPECT_EQ(formats_from(name_of(format)), std::vector{format});
  for (const char* wrong : {"", "html,", "xml", "HTML", " html"})
    EXPECT_THROW(formats_from(wrong), std::invalid_argument) << wrong;
}

TEST(Formats, AreMadeOfReportsThatMissAlmostEverything) {
  for (const Format format : kAll) {
    EXPECT_FALSE(render(format, json::object()).empty()) << name_of(format);
    EXPECT_FALSE(render(format, {{"checks", {json::object()}}, {"cases", {json::object()}}}).empty());
    EXPECT_THROW(render(format == Format::json ? Format::csv : format, json::array()), json::exception);
  }
}

TEST(Formats, CutLinesOfTenMegabytes) {
  json report = sample("weights-every-batch");
  report["cases"][0]["output"] = {{"text", std::string(10'000'000, 'x')}, {"cut", true}};
  report["checks"][1]["reason"]["text"] = std::string(10'000'000, 'y');
  report["checks"][1]["explain"]["what"] = std::string(10'000'000, 'z');
  for (const Format format : kAll)
    EXPECT_LT(render(format, report).size(), format == Format::json ? 40'000'000u : 520'000u) << name_of(format);
}

TEST(JUnit, HasATestForEachCheckAndCountsThem) {
  const std::string xml = render(Format::junit, sample("weights-every-batch"));
  EXPECT_EQ(count(xml, "<testcase "), 9u);
  EXPECT_EQ(count(xml, "<failure "), 3u);
  EXPECT_NE(xml.find("tests=\"9\" failures=\"3\" errors=\"0\" skipped=\"0\""), std::string::npos);
  EXPECT_NE(xml.find("name=\"bytes-up\""), std::string::npos);
  EXPECT_EQ(count(xml, " file=\""), 0u);
  EXPECT_EQ(count(render(Format::junit, sample("weights-every-batch"), {.html = {}, .junit_file = "a.cpp"}),
                  " file=\"a.cpp\""),
            9u);
}

TEST(JUnit, TellsFaultsSkippedChecksAndTestsOfOneNameApart) {
  json report = sample("solution");
  report["checks"][0]["status"] = "fault";
  report["checks"][1]["status"] = "skipped";
  report["checks"][2]["id"] = report["checks"][3]["id"];
  const std::string xml = render(Format::junit, report);
  EXPECT_EQ(count(xml, "<error "), 1u);
  EXPECT_EQ(count(xml, "<skipped "), 1u);
  EXPECT_NE(xml.find("errors=\"1\" skipped=\"1\""), std::string::npos);
  EXPECT_EQ(count(xml, "name=\"one-fetch\""), 1u);
  EXPECT_EQ(count(xml, "name=\"one-fetch (2)\""), 1u);
}

TEST(JUnit, NumbersTestsOfOneNameWithoutMeetingANameThatIsThere) {
  json report = sample("solution");
  report["checks"][0]["id"] = report["checks"][1]["id"] = "a";
  report["checks"][2]["id"] = "a (2)";
  const std::string xml = render(Format::junit, report);
  for (const char* name : {"name=\"a\"", "name=\"a (2)\"", "name=\"a (2) (2)\""})
    EXPECT_EQ(count(xml, name), 1u) << name;
}

TEST(JUnit, SaysWhyACheckWasSkippedWhereGitLabLooks) {
  json report = sample("solution");
  report["checks"][1]["status"] = "skipped";
  report["checks"][1]["reason"] = {{"code", "dependency"}, {"text", "task 1 failed"}};
  EXPECT_EQ(count(render(Format::junit, report), "<skipped message=\"task 1 failed\">task 1 failed</skipped>"), 1u);
}

TEST(Gradescope, AddsUpAndKeepsHiddenChecksForLater) {
  json report = sample("weights-every-batch");
  report["checks"][2]["visibility"] = "hidden";
  const json results = json::parse(render(Format::gradescope, report));
  double sum = 0;
  for (const json& test : results.at("tests")) sum += test.at("score").get<double>();
  EXPECT_DOUBLE_EQ(sum, results.at("score").get<double>());
  EXPECT_EQ(results.at("score"), report.at("score"));
  EXPECT_EQ(results.at("tests").at(2).at("visibility"), "after_published");
  EXPECT_EQ(results.at("tests").at(1).at("visibility"), "visible");
  EXPECT_EQ(results.at("stdout_visibility"), "hidden");
}

TEST(Gradescope, ShowsNothingOfHiddenCasesThatTheStudentsCopyDoesNot) {
  json report = sample("weights-every-batch");
  const std::string secret = "the size is 4711";
  for (json& one : report["cases"])
    if (one["visibility"] == "hidden") one["reason"] = {{"code", "wrong-values"}, {"text", secret}};
  report["checks"][1]["reason"]["text"] = secret;
  report["checks"][1]["explain"]["evidence"] = "because " + secret;
  EXPECT_EQ(render(Format::gradescope, report).find("4711"), std::string::npos);
}

// Gradescope hides the total then; the points of the hidden check would be what it and the visible ones leave.
TEST(Gradescope, TellsNoTotalWhileACheckIsHidden) {
  json report = sample("weights-every-batch");
  EXPECT_NE(json::parse(render(Format::gradescope, report))["output"].get<std::string>().find("67.5"),
            std::string::npos);
  report["checks"][1]["visibility"] = "hidden";
  report["next_step"]["check"] = report["checks"][1]["id"];
  report["next_step"]["text"] = "mend the hidden one";
  const std::string output = json::parse(render(Format::gradescope, report))["output"];
  EXPECT_EQ(output, "6 of 8 visible checks passed; the others, and the total, stand with the published grades.");
  report["next_step"]["check"] = report["checks"][2]["id"];
  EXPECT_NE(json::parse(render(Format::gradescope, report))["output"].get<std::string>().find("\nNext: mend"),
            std::string::npos);
  report["verdict"] = "Refused before any of its code ran.", report["score"] = 0;
  EXPECT_EQ(json::parse(render(Format::gradescope, report))["output"].get<std::string>().find("Refused before"), 0u);
}

TEST(Gradescope, NumbersTheChecksOfEachTask) {
  json report = sample("weights-every-batch");
  for (std::size_t i = 0; i < 4; ++i) report["checks"][i]["task"] = i % 2;
  const json tests = json::parse(render(Format::gradescope, report))["tests"];
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(tests[i]["number"], std::to_string(i % 2) + "." + std::to_string(i / 2 + 1));
}

TEST(Gradescope, GivesAFaultNoScoreAtAll) {
  json report = sample("solution");
  report["score"] = nullptr;
  const json results = json::parse(render(Format::gradescope, report));
  EXPECT_FALSE(results.contains("score"));
  for (const json& test : results.at("tests")) EXPECT_FALSE(test.contains("score"));
}

TEST(Gradescope, SaysHowFarItIsWhileCasesRun) {
  const json results = json::parse(render_gradescope_partial(sample("solution"), 3, 12));
  EXPECT_EQ(results.at("output").get<std::string>().find("Unfinished: 3 of 12 cases"), 0u);
  EXPECT_EQ(results.at("tests").size(), 9u);
}

TEST(Classroom, StoresTheScoreExactly) {
  for (const char* name : kSamples) {
    const json report = sample(name), payload = from_base64(render(Format::classroom, report));
    EXPECT_EQ(stored_sum(payload), report.at("score").get<double>()) << name;
    EXPECT_EQ(payload.at("max_score"), report.at("max_score"));
    for (const json& test : payload.at("tests")) EXPECT_TRUE(test.at("score").is_number());
  }
}

TEST(Classroom, StoresScoresThatBinaryFractionsDoNotHave) {
  json report = sample("solution");
  double sum = 0;
  for (json& check : report["checks"]) check["points"] = 0.1, sum += 0.1;
  report["score"] = 0.9;
  EXPECT_NE(sum, 0.9);
  EXPECT_EQ(stored_sum(from_base64(render(Format::classroom, report))), 0.9);
}

// What the reporter did with payloads of each shape is recorded: no test at all, or max_score 0, stores nothing that
// would be taken for a grade.
TEST(Classroom, StoresNothingForAFault) {
  const json recorded = json::parse(test::read_file(LABRIG_GOLDEN_EXPORTS "/classroom_payloads.json"));
  EXPECT_EQ(recorded.at("max_zero").at("reporter_43c2d9f_did").at(0), "nothing stored");
  json report = sample("solution");
  report["score"] = nullptr;
  const json payload = from_base64(render(Format::classroom, report));
  EXPECT_EQ(payload.at("status"), "error");
  EXPECT_EQ(payload.at("max_score"), 0);
}

TEST(Classroom, FitsIntoAnEnvironmentVariable) {
  json report = sample("weights-every-batch");
  const json check = report["checks"][1];
  for (int i = 0; i < 5000; ++i) report["checks"].push_back(check);
  const std::string text = render(Format::classroom, report);
  EXPECT_LT(text.size(), 131'072u - 100);
  EXPECT_EQ(stored_sum(from_base64(text)), report.at("score").get<double>());
}

TEST(Classroom, FitsWhateverChecksAreCalled) {
  for (const std::string& sign : {std::string("\\"), std::string("\""), std::string("\x01"), std::string("\xff")}) {
    json report = sample("weights-every-batch");
    json check = report["checks"][1];
    for (int i = 0; i < 400; ++i) check["id"] = "", report["checks"].push_back(check);
    for (json& one : report["checks"])
      for (int i = 0; i < 400; ++i) one["id"].get_ref<std::string&>() += sign;
    const std::string text = render(Format::classroom, report);
    EXPECT_LT(text.size(), 131'072u - 256);
    EXPECT_EQ(stored_sum(from_base64(text)), report.at("score").get<double>());
  }
}

TEST(Github, EscapesCommandsAndShowsTenErrors) {
  json report = sample("weights-every-batch");
  json check = report["checks"][1];
  check["title"] = "100 %\r\n::add-mask::x";
  check["reason"] = {{"code", "own"}, {"text", "one"}};
  report["checks"] = json::array();
  for (int i = 0; i < 30; ++i) {
    check["id"] = "check-" + std::to_string(i);
    check["reason"]["text"] = "reason " + std::to_string(i);
    report["checks"].push_back(check);
  }
  const std::string log = log_of(report, "week 1/a,b:c.cpp");
  EXPECT_EQ(count(log, "\n"), 11u);
  EXPECT_EQ(count(log, "::error file=week 1/a%2Cb%3Ac.cpp,line=1,title=check-"), 10u);
  EXPECT_EQ(count("\n" + log, "\n::"), 11u) << "every line is a command of ours";
  EXPECT_NE(log.find("100 %25"), std::string::npos);
}

TEST(Github, SaysHowManyMessagesAreNotShown) {
  json report = sample("weights-every-batch");
  const json check = report["checks"][1];
  report["checks"] = json::array();
  for (int i = 0; i < 27; ++i) {
    report["checks"].push_back(check);
    report["checks"][static_cast<std::size_t>(i)]["reason"] = {{"code", "x"}, {"text", std::to_string(i)}};
    report["checks"][static_cast<std::size_t>(i)]["status"] = i % 2 == 0 ? "failed" : "partial";
  }
  const std::string log = log_of(report, "");
  EXPECT_EQ(count(log, "::error "), 10u);
  EXPECT_EQ(count(log, "::warning "), 10u);
  EXPECT_NE(log.find("%0A7 more messages are on the page of the step\n"), std::string::npos) << log;
  EXPECT_EQ(log_of(sample("solution"), "").find("more message"), std::string::npos);
}

TEST(Github, CountsTheMessagesOfAllReportsOfAStep) {
  const json report = sample("weights-every-batch");
  MessagesLeft left;
  std::size_t errors = 0;
  std::string log;
  for (int i = 0; i < 12; ++i) {
    log = github_annotations(report, "", Readers::students, left);
    errors += count(log, "::error ");
  }
  EXPECT_EQ(errors, 10u);
  EXPECT_NE(log.find("3 more messages are on the page of the step"), std::string::npos) << log;
}

// Who can read the repository can read them all.
TEST(Github, ShowsNothingOfHiddenCasesThatTheStudentsCopyDoesNot) {
  json report = sample("weights-every-batch");
  for (json& one : report["cases"])
    if (one["visibility"] == "hidden") {
      one["reason"] = {{"code", "wrong-values"}, {"text", "the size is 4711"}};
      one["output"] = {{"text", "size 4711"}, {"cut", false}};
    }
  report["checks"][1]["reason"]["text"] = "the size is 4711";
  report["checks"][1]["explain"]["evidence"] = "seen: the size is 4711";
  FormatOptions own;
  own.github_readers = Readers::instructors;
  EXPECT_EQ(render(Format::github, report).find("4711"), std::string::npos);
  EXPECT_EQ(log_of(report, "").find("4711"), std::string::npos);
  EXPECT_EQ(from_base64(render(Format::classroom, report)).dump().find("4711"), std::string::npos);
  EXPECT_NE(render(Format::github, report, own).find("4711"), std::string::npos);
  EXPECT_NE(from_base64(render(Format::classroom, report, own)).dump().find("4711"), std::string::npos);
  EXPECT_NE(log_of(report, "", Readers::instructors).find("4711"), std::string::npos);
  EXPECT_NE(render(Format::markdown, report).find("4711"), std::string::npos) << "the instructor's";
}

TEST(Github, KeepsTheStepsPageBelowItsLimit) {
  json report = sample("weights-every-batch");
  json check = report["checks"][1];
  check["explain"]["cause"] = std::string(2000, 'x');
  for (int i = 0; i < 2000; ++i) {
    check["reason"]["text"] = std::to_string(i);
    report["checks"].push_back(check);
  }
  const std::string page = render(Format::github, report);
  EXPECT_LT(page.size(), 1u << 20);
  EXPECT_GT(page.size(), 800'000u);
}

// Traces of others that do not open, each for one reason; ours has none of them.
TEST(Trace, HasNoneOfTheRecordedMistakes) {
  const std::string folder = std::string(LABRIG_GOLDEN_EXPORTS) + "/trace/";
  for (const char* name : {"bad_inf_bandwidth", "bad_missing_quote"})
    EXPECT_TRUE(json::parse(test::read_file(folder + name + ".json"), nullptr, false).is_discarded()) << name;
  for (const char* name : kSamples) {
    const json trace = json::parse(render(Format::trace, sample(name)));
    for (const json& event : trace.at("traceEvents"))
      EXPECT_LT(event.value("ts", 0.0), 1e9) << "relative, not of the epoch";
  }
}

}  // namespace
}  // namespace labrig::reports
