// Layers that do not fit together.
#include <gtest/gtest.h>

#include "labrig/error.hpp"
#include "models.hpp"

namespace labrig::plan {
namespace {

using namespace test;

struct Misfit {
  const char* name;
  std::vector<std::int64_t> input;
  std::vector<Layer> layers;
  const char* what;
};
void PrintTo(const Misfit& misfit, std::ostream* out) { *out << misfit.name; }

class DescriptionMistake : public testing::TestWithParam<Misfit> {};

TEST_P(DescriptionMistake, IsRefusedWithItsReason) {
  Model model;
  model.input = GetParam().input;
  model.layers = GetParam().layers;
  for (Layer& layer : model.layers) layer.place = "here: ";
  try {
    make_plan(model, {8});
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "bad-model");
    EXPECT_EQ(std::string(error.what()), GetParam().what);
    EXPECT_FALSE(error.why().empty());
    EXPECT_FALSE(error.fix().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DescriptionMistake,
    testing::Values(Misfit{"NoLayers", {8}, {}, "the model has no layers"},
                    Misfit{"NoInput", {}, {layer(Kind::relu)}, "the input has 0 dimensions"},
                    Misfit{"ConvolutionOfRows", {8}, {convolution(4, 1)}, "here: conv2d cannot take what reaches it"},
                    Misfit{
                        "AttentionOfRows", {8}, {block(2, 0)}, "here: transformer_block cannot take what reaches it"},
                    Misfit{"UnevenHeads", {5, 8}, {block(3, 0)}, "here: a width of 8 cannot be split into 3 heads"},
                    Misfit{"LateEmbedding",
                           {8},
                           {layer(Kind::relu), layer(Kind::embedding, 4)},
                           "here: embedding needs a positive 'entries'"},
                    Misfit{"WiderResidual",
                           {8},
                           {holding(Kind::residual, {layer(Kind::linear, 9)})},
                           "here: what is inside a residual must keep the size of its input"},
                    Misfit{"TooLarge",
                           {1 << 20},
                           {layer(Kind::linear, std::int64_t{1} << 40)},
                           "a tensor of [1099511627776, 1048576] is larger than any card"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Description, CountsTheParametersOfEveryRepetition) {
  const Plan plan = make_plan(mlp(16, 3, Kind::relu, Loss::cross_entropy), {4});
  ASSERT_EQ(plan.layers.size(), 4u);
  EXPECT_EQ(plan.layers[0].name, "1.1 linear");
  EXPECT_EQ(plan.layers[0].times, 3);
  EXPECT_EQ(plan.layers[0].parameters, 3 * (16 * 16 + 16));
  EXPECT_EQ(plan.layers[1].kept, "output 4 x 16 x 4 B");
  EXPECT_EQ(plan.layers[2].out, (std::vector<std::int64_t>{10}));
  EXPECT_EQ(plan.layers[3].name, "loss");
}

}  // namespace
}  // namespace labrig::plan
