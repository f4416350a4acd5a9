// What is planned against what the core's allocator counts when the same model is trained on a card without values.
#include <gtest/gtest.h>

#include <numeric>

#include "labrig/error.hpp"
#include "labrig/memory.hpp"
#include "models.hpp"

namespace labrig::plan {
namespace {

using namespace test;

constexpr Training kAll[] = {{1, Optimizer::sgd, Precision::f32},          {1, Optimizer::adam, Precision::f32},
                             {1, Optimizer::adamw, Precision::bf16},       {1, Optimizer::adam, Precision::f16},
                             {1, Optimizer::sgd_momentum, Precision::f16}, {1, Optimizer::adam, Precision::f32, true}};

struct Grid {
  const char* name;
  std::vector<Model> models;
  std::vector<std::int64_t> batches;
};
void PrintTo(const Grid& grid, std::ostream* out) { *out << grid.name; }

class Peaks : public testing::TestWithParam<Grid> {};

TEST_P(Peaks, AreWithinOnePercentOfWhatTheCoreTakes) {
  for (const Model& model : GetParam().models)
    for (const std::int64_t batch : GetParam().batches)
      for (Training training : kAll) {
        training.batch = batch;
        const auto planned = static_cast<double>(make_plan(model, training).peak_bytes);
        const auto measured = static_cast<double>(measured_peak_bytes(model, training));
        EXPECT_NEAR(planned / measured, 1, 0.01)
            << model.name << ", batch " << batch << ", " << name_of(training.optimizer) << ", "
            << name_of(training.precision) << (training.accumulates ? ", accumulated" : "");
      }
}

INSTANTIATE_TEST_SUITE_P(
    All, Peaks,
    testing::Values(Grid{"Mlp",
                         {mlp(64, 1, Kind::relu, Loss::cross_entropy), mlp(700, 3, Kind::gelu, Loss::mse),
                          mlp(1024, 6, Kind::tanh, Loss::bce_with_logits)},
                         {1, 100, 4096}},
                    Grid{"Cnn", {cnn(16, 3, true), cnn(64, 2, false)}, {1, 33, 512}},
                    Grid{"Transformer", {decoder(128, 2, 64, 0.1), encoder(192, 4, 50)}, {1, 8, 200}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LargestBatch, TrainsAndTheNextOneIsRefused) {
  constexpr std::size_t kRoom = std::size_t{256} << 20;
  for (const Model& model :
       {mlp(700, 3, Kind::relu, Loss::cross_entropy), cnn(16, 3, true), decoder(128, 2, 64, 0.1)}) {
    Training training{1, Optimizer::adam, Precision::f16};
    const LargestBatch largest = largest_batch(model, training, kRoom);
    ASSERT_GT(largest.batch, 1) << model.name;
    EXPECT_GE(largest.by_bytes, largest.batch) << model.name;
    training.batch = largest.batch;
    EXPECT_NO_THROW(measured_peak_bytes(model, training, kRoom)) << model.name;
    ++training.batch;
    EXPECT_THROW(measured_peak_bytes(model, training, kRoom), OutOfMemoryError) << model.name;
  }
}

TEST(LargestBatch, IsNothingWhereTheModelAloneIsTooLarge) {
  EXPECT_EQ(largest_batch(mlp(1024, 6, Kind::relu, Loss::mse), {1, Optimizer::adam}, std::size_t{64} << 20).batch, 0);
}

TEST(Plan, SaysWhoHoldsWhatAtThePeak) {
  const Plan plan = make_plan(decoder(128, 2, 64, 0.1), {8, Optimizer::adam, Precision::f16});
  EXPECT_EQ(std::accumulate(plan.at_peak.begin(), plan.at_peak.end(), std::size_t{0}), plan.peak_bytes);
  std::int64_t parameters = 0;
  std::size_t kept = 0;
  for (const LayerPlan& layer : plan.layers) parameters += layer.parameters, kept += layer.kept_bytes;
  EXPECT_EQ(parameters, plan.parameters);
  EXPECT_NEAR(static_cast<double>(kept), static_cast<double>(plan[Part::activations]),
              0.01 * static_cast<double>(kept));
  EXPECT_GT(plan[Part::weight_copies], 0u);
  EXPECT_EQ(make_plan(decoder(128, 2, 64, 0.1), {8}).bytes[static_cast<std::size_t>(Part::weight_copies)], 0u);
}

TEST(Plan, CountsTheTextbooksTenMillionParameters) {
  Model model;
  model.totals = Totals{10e6, 1e6, 0};
  EXPECT_EQ(make_plan(model, {50, Optimizer::adam}).fixed_bytes, 160'000'000u);
  EXPECT_EQ(make_plan(model, {50, Optimizer::adam}).peak_bytes, 210'000'000u);
  EXPECT_EQ(make_plan(model, {50, Optimizer::sgd}).peak_bytes, 130'000'000u);
  EXPECT_EQ(largest_batch(model, {1, Optimizer::adam}, 200'000'000).batch, 40);
}

}  // namespace
}  // namespace labrig::plan
