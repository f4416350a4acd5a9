// GitHub Classroom's payload: what the reporter adds up is labrig's score, whatever the points are, and what it prints
// starts no command in GitHub's log.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

#include "exact_sum.hpp"
#include "formats.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

using Json = nlohmann::json;

Json payload_of(const Json& report) {
  const std::string text = render(Format::classroom, report);
  EXPECT_LT(text.size(), 131'072u - 256);
  std::string out(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  out.resize(out.size() - (text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0));
  for (const char c : out) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << "not ASCII: a reader may take it apart";
  return Json::parse(out);
}

// As the reporter adds: in order, as doubles, from 0.
double added(const std::vector<double>& scores) { return std::accumulate(scores.begin(), scores.end(), 0.0); }

double stored(const Json& payload) {
  std::vector<double> scores;
  for (const Json& test : payload.at("tests")) scores.push_back(test.at("score").get<double>());
  return added(scores);
}

Json with_points(const std::vector<Part>& parts, double score) {
  Json report = sample("solution");
  const Json check = report["checks"][0];
  report["checks"] = Json::array();
  double most = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Json one = check;
    one["id"] = "check-" + std::to_string(i);
    one["points"] = parts[i].points, one["max_points"] = parts[i].most;
    one["status"] = parts[i].points >= parts[i].most ? "passed" : parts[i].points > 0 ? "partial" : "failed";
    most += parts[i].most;
    report["checks"].push_back(one);
  }
  report["score"] = score, report["max_score"] = most;
  return report;
}

void expect_exact(double score, const std::vector<Part>& parts) {
  const std::vector<double> scores = adding_up_to(score, parts);
  EXPECT_EQ(added(scores), score);
  ASSERT_EQ(scores.size(), parts.size()) << "score " << score;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_TRUE(std::isfinite(scores[i]));
    EXPECT_GE(scores[i], 0);
    EXPECT_LE(scores[i], parts[i].most + 4e-16 * std::max(score, 1.0)) << i;
    EXPECT_NEAR(scores[i], parts[i].points, 2e-9) << i;
  }
}

// Points to a tenth, as labrig gives them; to other decimals; to the last bit; many, few, nothing at all.
TEST(ExactSum, IsTheScoreForThousandsOfReports) {
  std::mt19937_64 random(20260101);  // NOLINT: the same ones every time
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t count = 1 + random() % (round % 50 == 0 ? 300 : 12);
    const double grid = std::pow(10, static_cast<int>(random() % 5));
    const bool fractions = random() % 4 == 0;
    std::vector<Part> parts;
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double most = static_cast<double>(1 + random() % 400) / (random() % 2 == 0 ? 10 : 1);
      const double share = random() % 3 == 0 ? 0 : random() % 2 == 0 ? 1 : static_cast<double>(random()) / 1.85e19;
      const double points = fractions ? most * share : std::min(most, std::round(most * share * grid) / grid);
      parts.push_back({points, most});
      total += points;
    }
    expect_exact(random() % 2 == 0 ? total : std::round(total * 1e9) / 1e9, parts);
    if (testing::Test::HasFailure()) FAIL() << "round " << round;
  }
}

TEST(ExactSum, GivesNobodyLessThanNothing) {
  expect_exact(0.3, {{0.1, 5}, {0.1, 5}, {0.1, 5}, {0, 5}});
  expect_exact(26.43974915167288, {{3.81, 5}, {0, 5}, {2.6297491516728835, 5}, {20, 20}});
  expect_exact(0.9, std::vector<Part>(9, {0.1, 0.1}));
  expect_exact(0, {{0, 5}, {0, 0}});
  const std::vector<double> scores = adding_up_to(0.3, {{0.1, 5}, {0.1, 5}, {0.1, 5}, {0, 5}});
  EXPECT_EQ(scores.back(), 0) << "what earned nothing has nothing";
}

// A report that was edited: the score still counts, and stays the sum.
TEST(ExactSum, HoldsForScoresThatTheChecksDoNotGive) {
  for (const double total : {0.0, 1.0, 7.3, 29.9, 100.0, 1e-300, 5e-324, 1e300, 1.7e308}) {
    for (const double points : {0.0, 3.3, 1e-310, -4.0, 1e308, HUGE_VAL}) {
      const std::vector<double> scores = adding_up_to(total, {{points, 10}, {2, 10}, {points, 0.1}});
      EXPECT_EQ(added(scores), total) << points;
      for (const double score : scores) EXPECT_TRUE(std::isfinite(score) && score >= 0) << score;
    }
    EXPECT_EQ(added(adding_up_to(total, {})), total);
  }
}

TEST(ClassroomPayload, StoresTheScoreWhateverThePointsAre) {
  EXPECT_EQ(stored(payload_of(with_points({{3.81, 5}, {0, 5}, {2.6297491516728835, 5}, {20, 20}}, 26.43974915167288))),
            26.43974915167288);
  EXPECT_EQ(stored(payload_of(with_points({{10, 10}, {12.5, 40}, {0, 50}}, 22.5))), 22.5);
  std::mt19937_64 random(7);  // NOLINT: the same ones every time
  for (int round = 0; round < 60; ++round) {
    std::vector<Part> parts;
    double tenths = 0;
    for (std::size_t i = 0; i < 1 + random() % 700; ++i) {
      const auto earned = static_cast<double>(random() % 100);
      tenths += earned;
      parts.push_back({earned / 10, 10});
    }
    const Json payload = payload_of(with_points(parts, tenths / 10));
    EXPECT_EQ(stored(payload), tenths / 10);
    EXPECT_LE(payload.at("tests").size(), 301u);
  }
}

TEST(ClassroomPayload, SaysOfManyChecksWhetherAllThatAreNotToldPassed) {
  std::vector<Part> parts(400, {0.5, 0.5});
  EXPECT_EQ(payload_of(with_points(parts, 200)).at("tests").back().at("status"), "pass");
  EXPECT_EQ(payload_of(with_points(parts, 200)).at("tests").back().at("name"), "100 more checks");
  parts.back().points = 0;
  EXPECT_EQ(payload_of(with_points(parts, 199.5)).at("tests").back().at("status"), "fail");
}

TEST(ClassroomPayload, LeavesSkippedChecksOut) {
  Json report = sample("weights-every-batch");
  report["checks"][1]["status"] = "skipped";
  EXPECT_EQ(payload_of(report).at("tests").size(), report["checks"].size() - 1);
  for (Json& check : report["checks"]) check["status"] = "skipped", check["points"] = 0;
  report["score"] = 0, report["max_score"] = 0;
  EXPECT_EQ(payload_of(report).at("max_score"), 0) << "nothing is stored";
}

// The reporter prints names and messages as they are.
TEST(ClassroomPayload, HoldsNoCommandOfGithubsLog) {
  for (const std::string& text :
       {std::string("x\n::error::forged"), std::string("::stop-commands::x"), std::string("\t::add-mask::a\r\n ::b::"),
        std::string("##[add-mask]x"), std::string("a\n\u3000::warning::w")}) {
    const Json payload = payload_of(with_every_text(text));
    for (const Json& test : payload.at("tests")) {
      for (const char* key : {"name", "message"}) {
        std::istringstream lines(test.value(key, ""));
        for (std::string line; std::getline(lines, line);) {
          EXPECT_EQ(line.find("##["), std::string::npos) << line;
          const std::size_t first = line.find_first_not_of(" \t\u3000");
          EXPECT_TRUE(first == std::string::npos || line.compare(first, 2, "::") != 0) << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace labrig::reports::test
