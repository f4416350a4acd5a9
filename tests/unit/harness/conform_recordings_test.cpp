// The recordings of operators, optimizers, scaler, autocast, errors and training peaks: all agree; damaged ones are
// found out, and what is not known is named.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "conform/kinds.hpp"
#include "support/amp_curves.hpp"

namespace labrig::conform {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path golden(const std::string& kind) { return fs::path(LABRIG_TEST_GOLDEN) / (kind + ".json.gz"); }
json recorded(const std::string& kind) { return JsonFile::read(golden(kind)).value().json(); }

class ConformRecordings : public testing::Test {
 protected:
  ConformRecordings() {
    std::string pattern = (fs::temp_directory_path() / "labrig-conform-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ConformRecordings() override { fs::remove_all(folder_); }

  static Outcome run(const std::string& kind, const fs::path& file, Device device = "sim") {
    return kind_named(kind).run(JsonFile::read(file).value(), device);
  }
  Outcome run_text(const std::string& kind, const std::string& text, Device device = "cpu") const {
    std::ofstream(folder_ / "file.json", std::ios::binary) << text;
    return run(kind, folder_ / "file.json", device);
  }
  Outcome run_json(const std::string& kind, const json& document, Device device = "cpu") const {
    return run_text(kind, document.dump(), device);
  }
  // Why the document is refused.
  std::string refusal(const std::string& kind, const std::string& text) const {
    try {
      run_text(kind, text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "bad-file");
      return error.why();
    }
    return "accepted";
  }

  fs::path folder_;
};

void expect_all(const Outcome& outcome, std::size_t entries) {
  EXPECT_TRUE(outcome.ok()) << to_text(outcome);
  EXPECT_EQ(outcome.total, entries);
  EXPECT_TRUE(outcome.ignored.empty()) << to_text(outcome);
}

// --- operators
// ---------------------------------------------------------------------------------------------------------

TEST_F(ConformRecordings, OperatorsAndTheirGradientsAgreeOnTheHostAndOnACard) {
  for (const char* device : {"cpu", "sim"}) {
    const Outcome outcome = run("operators", golden("operators"), device);
    expect_all(outcome, 58);
    EXPECT_TRUE(outcome.left_out.empty()) << to_text(outcome);
  }
}

json entry_named(const std::string& op) {
  for (const json& entry : recorded("operators")) {
    if (entry["op"] == op) return entry;
  }
  throw std::invalid_argument(op);
}

TEST_F(ConformRecordings, AValueOrGradientThatDiffersIsNamedWithItsPlace) {
  json matmul = entry_named("matmul"), exp = entry_named("exp");
  matmul["grad_inputs"][1]["data"][3] = 7.5;
  exp["output"]["data"][2] = exp["output"]["data"][2].get<double>() + 1e-3;
  const Outcome outcome = run_json("operators", json::array({entry_named("add"), matmul, exp}));
  EXPECT_EQ(outcome.passed, 1u);
  ASSERT_EQ(outcome.differences.size(), 2u);
  EXPECT_EQ(outcome.differences[0].where, "entry 1 (matmul)");
  EXPECT_EQ(outcome.differences[0].key, "grad_inputs[1][3]");
  EXPECT_EQ(outcome.differences[0].expected, "7.5");
  EXPECT_EQ(outcome.differences[1].key, "output[2]");
  const std::string text = to_text(outcome);
  EXPECT_NE(text.find("first difference: entry 1 (matmul)\n  key:      grad_inputs[1][3]\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("also differs: entry 2 (exp): output[2]"), std::string::npos) << text;
}

TEST_F(ConformRecordings, AnOperatorOfAnotherShapeOrWithoutGradientIsADifference) {
  json add = entry_named("add"), sum = entry_named("sum");
  add["output"]["shape"] = {12};
  sum["attrs"]["keepdim"] = true;
  EXPECT_EQ(run_json("operators", json::array({add, sum})).passed, 0u);
  const std::string argmax = R"([{"op": "argmax", "attrs": {"dim": 0}, "inputs": [{"shape": [2], "data": [1, 2]}],
    "output": {"shape": [], "data": [1]}, "grad_output": {"shape": [], "data": [1]},
    "grad_inputs": [{"shape": [2], "data": [0, 1]}]}])";
  const Outcome outcome = run_text("operators", argmax);
  ASSERT_EQ(outcome.differences.size(), 1u);
  EXPECT_EQ(outcome.differences[0].key, "grad_inputs[0]");
}

TEST_F(ConformRecordings, AnErrorOfAnOperatorIsADifferenceAndTheNextEntryRuns) {
  json mm = entry_named("matmul");
  mm["inputs"][0] = {{"shape", {2, 2}}, {"data", {1, 2, 3, 4}}};
  for (const char* device : {"cpu", "sim"}) {
    const Outcome outcome = run_json("operators", json::array({mm, entry_named("add")}), device);
    EXPECT_EQ(outcome.passed, 1u) << to_text(outcome);
    EXPECT_EQ(outcome.differences.at(0).key, "error");
  }
}

TEST_F(ConformRecordings, ValuesThatAreNotFiniteAreReadAndCompared) {
  const std::string log = R"([{"op": "log", "attrs": {}, "inputs": [{"shape": [3], "data": [-1, 0, Infinity]}],
    "output": {"shape": [3], "data": [NaN, -Infinity, Infinity]}}])";
  EXPECT_TRUE(run_text("operators", log).ok());
  std::string finite = log;
  finite.replace(finite.find("NaN"), 3, "0.0");
  EXPECT_FALSE(run_text("operators", finite).ok());
}

TEST_F(ConformRecordings, AttributesComeInAllTheirForms) {
  const auto entry = [](const char* op, const json& attrs, const json& inputs, const json& output) {
    return json{{"op", op}, {"attrs", attrs}, {"inputs", inputs}, {"output", output}};
  };
  const json x = {{"shape", {1, 1, 2, 3}}, {"data", {1, 2, 3, 4, 5, 6}}};
  const json one = {{"shape", {1, 1, 1, 1}}, {"data", {1}}};
  const json rows = {{"shape", {2, 2}}, {"data", {1, 2, 3, 4}}};
  const Outcome outcome = run_json(
      "operators",
      json::array({
          entry("conv2d", {{"stride", {2, 1}}, {"padding", 0}}, {x, one},
                {{"shape", {1, 1, 1, 3}}, {"data", {1, 2, 3}}}),
          entry("conv2d", {{"stride", 3}, {"padding", {0, 1}}, {"note", "wide"}}, {x, one, nullptr},
                {{"shape", {1, 1, 1, 2}}, {"data", {0, 3}}}),
          entry("sum", {{"dim", {0, 1}}, {"keepdim", true}}, json::array({rows}), {{"shape", {1, 1}}, {"data", {10}}}),
          entry("max", {{"dim", 1}}, json::array({rows}), {{"shape", {2}}, {"data", {2, 4}}}),
          entry("embedding", json::object(), {rows, {{"shape", json::array()}, {"data", {1}}}},
                {{"shape", {2}}, {"data", {3, 4}}}),
          entry("add", nullptr, {rows, 1}, {{"shape", {2, 2}}, {"data", {{2, 3}, {4, 5}}}}),
          entry("cross_entropy", {{"ignore_index", 0}, {"reduction", "sum"}},
                {rows, {{"shape", {2}}, {"data", {0, 0}}}}, 0),
          entry("nll_loss", {{"weight", {0.5, 2}}, {"reduction", "sum"}}, {rows, {{"shape", {2.0}}, {"data", {1, 0}}}},
                -5.5),
      }));
  EXPECT_TRUE(outcome.ok()) << to_text(outcome);
  EXPECT_EQ(outcome.total, 8u);
  EXPECT_EQ(outcome.ignored, std::set<std::string>{"note"});
}

TEST_F(ConformRecordings, WhatIsNotKnownIsNamedAndNotCounted) {
  json unknown = entry_named("exp"), grouped = entry_named("relu");
  unknown["op"] = "fft";
  grouped["attrs"] = {{"slope", 0.5}};
  grouped["output"]["data"][0] = 99;
  json add = entry_named("add");
  add["machine"] = "mine";
  const Outcome outcome = run_json("operators", json::array({unknown, grouped, add}));
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.total, 1u);
  EXPECT_EQ(outcome.left_out.at("fft"), "not known here");
  EXPECT_EQ(outcome.left_out.at("entry 1 (relu)"), "differs, and has the attribute slope, not known here");
  EXPECT_EQ(outcome.ignored, (std::set<std::string>{"machine", "slope"}));
  EXPECT_NE(refusal("operators", json::array({unknown}).dump()).find("no operator that is known here, but fft"),
            std::string::npos);
}

TEST_F(ConformRecordings, ABadFileIsRefusedWithItsPlace) {
  const std::pair<std::string, std::string> rows[] = {
      {"[]", "1:1: the document is empty"},
      {"{}", "1:1: the document has no \"operators\""},
      {"[7]", "1:2: /0 is not an object"},
      {"[{\"op\": 3}]", "1:9: /0/op is not a text"},
      {"[{\"op\": \"exp\"}]", "1:2: /0 has no \"inputs\""},
      {"[{\"op\": \"exp\", \"inputs\": [], \"output\": 1}]", "1:26: /0/inputs has 0 entries, which is no number of"},
      {"[{\"op\": \"exp\", \"inputs\": [null], \"output\": 1}]", "/0/inputs/0 is null"},
      {"[{\"op\": \"exp\",\n \"inputs\": [{\"shape\": [2], \"data\": [NaN]}], \"output\": 1}]",
       "2:13: /0/inputs/0 has 1 values for a shape of 2"},
      {"[{\"op\": \"exp\", \"inputs\": [{\"shape\": [-2], \"data\": []}], \"output\": 1}]",
       "/0/inputs/0/shape/0 is negative or too large"},
      {"[{\"op\": \"exp\", \"inputs\": [{\"shape\": [1], \"data\": [\"a\"]}], \"output\": 1}]",
       "/0/inputs/0/data/0 is not a number"},
      {"[{\"op\": \"exp\", \"inputs\": [1],\n\"output\": [NaN, Infinity, 5 6]}]", "2:29: this is not JSON"},
      {"[{\"op\": \"exp\", \"inputs\": [1],\n\"output\": 1e999}]", "2:11: a number that no double holds"},
  };
  for (const auto& [text, expected] : rows) {
    const std::string why = refusal("operators", text);
    EXPECT_NE(why.find(expected), std::string::npos) << why << "\n instead of " << expected;
  }
}

// --- optimizers
// --------------------------------------------------------------------------------------------------------

TEST_F(ConformRecordings, OptimizersAgreeOnTheHostAndOnACard) {
  for (const char* device : {"cpu", "sim"}) expect_all(run("optimizers", golden("optimizers"), device), 6);
}

TEST_F(ConformRecordings, SettingsOfAnOptimizerComeFromItsConfigOrItsName) {
  json all = recorded("optimizers");
  json some = {{"mine", all["adam_wd"]}, {"sgd", all["adam"]}, {"lion", all["sgd"]}, {"torch", "2.11"}};
  some["mine"]["config"] = {
      {"optimizer", "Adam"}, {"lr", 0.01}, {"weight_decay", 0.1}, {"betas", {0.9, 0.999}}, {"capturable", false}};
  some["sgd"]["config"] = {{"optimizer", "adam"}, {"lr", 0.01}};
  const Outcome outcome = run_json("optimizers", some);
  EXPECT_TRUE(outcome.ok()) << to_text(outcome);
  EXPECT_EQ(outcome.total, 2u);
  EXPECT_EQ(outcome.left_out.count("lion"), 1u);
  EXPECT_EQ(outcome.ignored, (std::set<std::string>{"capturable", "torch"}));
}

TEST_F(ConformRecordings, AStepThatDiffersIsNamed) {
  json all = recorded("optimizers");
  json one = {{"adamw", all["adamw"]}};
  one["adamw"]["params"][7][2] = one["adamw"]["params"][7][2].get<double>() + 1e-4;
  const Outcome outcome = run_json("optimizers", one);
  ASSERT_EQ(outcome.differences.size(), 1u);
  EXPECT_EQ(outcome.differences[0].where, "adamw, step 7");
  EXPECT_EQ(outcome.differences[0].key, "params[2]");
  one["adamw"]["params"].erase(25);
  EXPECT_NE(refusal("optimizers", one.dump()).find("/adamw/params does not have one entry more than \"grads\""),
            std::string::npos);
}

// --- mixed precision
// ---------------------------------------------------------------------------------------------------

TEST_F(ConformRecordings, TheScalerAgreesBitForBit) {
  const Outcome outcome = run("grad_scaler", golden("grad_scaler"));
  expect_all(outcome, 4);
  EXPECT_EQ(outcome.figures["steps"], 240);
}

TEST_F(ConformRecordings, AStepOfTheScalerThatDiffersIsNamed) {
  const auto first_difference = [&](const std::function<void(json&)>& change) {
    json runs = recorded("grad_scaler");
    runs.erase(1), runs.erase(1), runs.erase(1);
    change(runs[0]["rows"][3]);
    const Outcome outcome = run_json("grad_scaler", runs, "sim");
    return outcome.differences.empty() ? "none" : outcome.differences[0].where + " " + outcome.differences[0].key;
  };
  EXPECT_EQ(first_difference([](json& row) { row["growth_tracker"] = 9; }), "scaler 0, row 3 growth_tracker");
  EXPECT_EQ(first_difference([](json& row) { row["scale_after"] = 1.5; }), "scaler 0, row 3 scale_after");
  EXPECT_EQ(first_difference([](json& row) { row["skipped"] = true; }), "scaler 0, row 3 skipped");
  EXPECT_EQ(first_difference([](json& row) { row["param"][1] = 0.5999; }), "scaler 0, row 3 param[1]");
  EXPECT_EQ(first_difference([](json& row) { row["bad"] = "inf"; }), "scaler 0, row 3 skipped");
  EXPECT_EQ(first_difference([](json& row) { row.erase("param"), row.erase("skipped"); }), "none");
}

TEST_F(ConformRecordings, AutocastAgreesInItsTableAndInEveryOperatorThatIsRun) {
  const Outcome outcome = run("autocast", golden("autocast"));
  expect_all(outcome, 312);
  EXPECT_EQ(outcome.figures["rows_run"], 31 * 8);
  expect_all(run("autocast", golden("autocast"), "cpu"), 312);
}

TEST_F(ConformRecordings, ARowOfAutocastThatDiffersIsNamed) {
  const Outcome outcome = run_json("autocast",
                                   {{"exp", "torch.float16", "torch.float32", "torch.float32", "torch.float16"},
                                    {"bce", "float16", "float32", "float32", "torch.float32"}},
                                   "sim");
  ASSERT_EQ(outcome.differences.size(), 2u);
  EXPECT_EQ(outcome.differences[0].where, "row 0: exp of f32 and f32 in a region of f16");
  EXPECT_EQ(outcome.differences[0].key, "policy table");
  EXPECT_EQ(outcome.differences[0].got, "f32");
  EXPECT_NE(refusal("autocast", "[[\"exp\", \"float17\", \"float32\", \"float32\", \"float32\"]]")
                .find("1:10: /0/1 is no element type"),
            std::string::npos);
}

// --- errors
// ------------------------------------------------------------------------------------------------------------

TEST_F(ConformRecordings, EveryMistakeGivesPyTorchsText) {
  const Outcome outcome = run("errors", golden("errors"));
  EXPECT_TRUE(outcome.ok()) << to_text(outcome);
  EXPECT_EQ(outcome.total + outcome.left_out.size(), 42u);
  for (const auto& [key, reason] : outcome.left_out) {
    EXPECT_TRUE(key == "bf16_numpy" || (key.starts_with("cpu_only") && device_count(DeviceType::cuda) > 0)) << key;
  }
}

TEST_F(ConformRecordings, ATextThatDiffersIsNamedAndSizesOfTheTextAreUsed) {
  const json texts = {{"mm_shape", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 5x7)"},
                      {"item_many", "RuntimeError: a Tensor with 6 elements cannot be converted to Scalar"},
                      {"view_stride", "RuntimeError: no view of this"},
                      {"warp_divergence", "RuntimeError: warps diverge"}};
  const Outcome outcome = run_json("errors", texts, "sim");
  EXPECT_EQ(outcome.passed, 2u) << to_text(outcome);
  ASSERT_EQ(outcome.differences.size(), 1u);
  EXPECT_EQ(outcome.differences[0].where, "view_stride");
  EXPECT_EQ(outcome.differences[0].expected, "no view of this");
  EXPECT_EQ(outcome.left_out.at("warp_divergence"), "not known here");
}

// --- memory
// ------------------------------------------------------------------------------------------------------------

TEST_F(ConformRecordings, TrainingNeedsNoMoreMemoryThanPyTorch) {
  const Outcome outcome = run("training_peaks", golden("training_peaks"));
  expect_all(outcome, 37);
  EXPECT_EQ(outcome.table.rows.size(), 37u);
}

TEST_F(ConformRecordings, APeakThatIsHigherIsNamed) {
  json runs = recorded("training_peaks");
  json one = json::array({runs[1]});
  one[0]["base"] = 0;
  for (json& step : one[0]["steps"]) step[3] = 1000;
  one.push_back(one[0]), one[1]["optimizer"] = "lion";
  const Outcome outcome = run_json("training_peaks", one, "sim");
  ASSERT_EQ(outcome.differences.size(), 1u);
  EXPECT_EQ(outcome.differences[0].where, "256 x 2, batch 256, sgd, fp16, step 0");
  EXPECT_EQ(outcome.differences[0].expected, "at most 1000");
  EXPECT_EQ(outcome.left_out.count("lion in fp16"), 1u);
}

}  // namespace
}  // namespace labrig::conform
