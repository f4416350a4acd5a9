// labrig bench: the tables of the field notes (F55, and what was measured on one H200) come out of the profiles, as
// JSON and as text.
#include <gtest/gtest.h>

#include <array>

#include "run_labrig.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;

json rows(const std::string& table, const std::string& profile) {
  const Outcome outcome = run_labrig({"bench", table, "--device", "sim", "--profile", profile, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  return json::parse(outcome.text);
}

void expect_within(double value, double expected, double factor, const std::string& what) {
  EXPECT_GE(value, expected / factor) << what;
  EXPECT_LE(value, expected * factor) << what;
}

// The row of a copy, by all that names it.
json copy_row(const json& all, std::int64_t bytes, const std::string& direction, const std::string& memory) {
  for (const json& row : all)
    if (row.at("bytes") == bytes && row.at("direction") == direction && row.at("memory") == memory) return row;
  ADD_FAILURE() << "no row " << bytes << " " << direction << " " << memory;
  return {{"ms", 0}, {"gb_per_s", 0}};
}

TEST(Bench, TheDesktopReproducesTheCrossoverTable) {
  struct Expected {
    std::int64_t n;
    double cpu_ms, compute_ms, end_to_end_ms, ratio;
  };
  constexpr std::array<Expected, 4> kTable = {
      {{64, 0.02, 0.01, 0.05, 0.4}, {256, 0.4, 0.03, 0.35, 1.1}, {1024, 20, 0.4, 1.3, 15}, {4096, 1500, 35, 50, 30}}};
  const json all = rows("crossover", "desktop");
  ASSERT_EQ(all.size(), kTable.size());
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    const std::string n = "n = " + std::to_string(kTable[i].n);
    const double cpu = all[i].at("cpu_ms"), end_to_end = all[i].at("end_to_end_ms");
    EXPECT_EQ(all[i].at("n"), kTable[i].n);
    expect_within(cpu, kTable[i].cpu_ms, 2, n + ", CPU");
    expect_within(all[i].at("compute_ms"), kTable[i].compute_ms, 2, n + ", compute");
    expect_within(end_to_end, kTable[i].end_to_end_ms, 2, n + ", end to end");
    expect_within(cpu / end_to_end, kTable[i].ratio, 1.5, n + ", ratio");
    EXPECT_EQ(all[i].size(), 4u) << all[i];
  }
}

TEST(Bench, TheH200IsWithinAQuarterOfWhatWasMeasured) {
  const json copies = rows("copies", "h200");
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  const auto rate = [&](const char* direction, const char* memory) {
    return copy_row(copies, kGib, direction, memory).at("gb_per_s").get<double>();
  };
  expect_within(rate("h2d", "pinned"), 54, 1.25, "up, pinned");
  expect_within(rate("h2d", "pageable"), 7.0, 1.25, "up, pageable");
  expect_within(rate("d2h", "pinned"), 54.6, 1.25, "down, pinned");
  expect_within(rate("d2h", "pageable"), 12.6, 1.25, "down, pageable");
  expect_within(2 * rate("d2d", "device"), 4200, 1.25, "inside, read and written");
  expect_within(copy_row(copies, 4, "h2d", "pinned").at("ms"), 0.012, 1.25, "smallest copy up");
  expect_within(copy_row(copies, 4, "d2h", "pinned").at("ms"), 0.012, 1.25, "smallest copy down");
  for (const json& row : copies) {
    EXPECT_EQ(row.size(), 5u) << row;
    const bool crosses_the_bus = row.at("direction") != "d2d";
    EXPECT_TRUE(!crosses_the_bus || row.at("gb_per_s") <= 55) << "faster than the bus: " << row;
  }
  const json product = rows("crossover", "h200").back();
  EXPECT_EQ(product.at("n"), 4096);
  expect_within(product.at("cpu_ms"), 104, 1.25, "product on the host");
  expect_within(product.at("compute_ms"), 2.7, 1.25, "product on the card");
}

TEST(Bench, TextSaysWhatTheFiguresAre) {
  const Outcome crossover = run_labrig({"bench", "crossover"});
  EXPECT_EQ(crossover.exit_code, 0);
  for (const char* part : {"sim:0, profile desktop", "simulated: all times are virtual",
                           "f32 throughout; CPU: 8 threads", "CPU ms", "ratio", "4096"})
    EXPECT_NE(crossover.text.find(part), std::string::npos) << part << "\n" << crossover.text;
  const Outcome host = run_labrig({"bench", "copies", "--device", "sim:0", "--profile", "tiny-256mib"});
  EXPECT_EQ(host.exit_code, 0);
  EXPECT_NE(host.text.find("67108864"), std::string::npos);
  EXPECT_EQ(host.text.find("1073741824"), std::string::npos) << "more than the card has";
}

TEST(Bench, MistakesAreAnsweredInThreeSentences) {
  struct Mistake {
    std::vector<std::string> arguments;
    int exit_code;
    const char* what;
  };
  for (const Mistake& mistake :
       {Mistake{{"copies", "--device", "cpu"}, 2, "there are no copies to measure on cpu"},
        Mistake{{"crossover", "--device", "gpu"}, 2, "start of device string: gpu"},
        Mistake{{"crossover", "--device", "sim:1"}, 2, "this process has 1 device(s) of type sim"},
        Mistake{{"crossover", "--profile", "h100"}, 2, "there is no profile 'h100'"},
        Mistake{{"crossover", "--device", "cpu", "--profile", "t4"}, 2, "--profile says nothing about cpu"},
        Mistake{{"crossover", "--device", "cuda:99"}, 4, "fix: "}}) {
    std::vector<std::string> arguments = {"bench"};
    arguments.insert(arguments.end(), mistake.arguments.begin(), mistake.arguments.end());
    const Outcome outcome = run_labrig(arguments);
    EXPECT_EQ(outcome.exit_code, mistake.exit_code) << outcome.text;
    for (const char* part : {"error: ", "why: ", "fix: ", mistake.what})
      EXPECT_NE(outcome.text.find(part), std::string::npos) << part << "\n" << outcome.text;
    arguments.push_back("--json");
    const std::string text = run_labrig(arguments).text;  // the sentences on stderr, then the answer on stdout
    EXPECT_TRUE(json::parse(text.substr(text.find("{\n"))).contains("error")) << text;
  }
}

TEST(Bench, TheHostAloneHasOnlyItsOwnColumn) {
  const Outcome outcome = run_labrig({"bench", "crossover", "--device", "cpu", "--json"}, "LABRIG_CPU_THREADS=1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  const json all = json::parse(outcome.text);
  ASSERT_EQ(all.size(), 4u);
  for (const json& row : all) {
    EXPECT_GT(row.at("cpu_ms").get<double>(), 0);
    EXPECT_TRUE(row.at("end_to_end_ms").is_null());
  }
}

}  // namespace
}  // namespace labrig::test
