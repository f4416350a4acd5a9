// Model descriptions: the shipped ones, and that each kind of mistake is an error with its place.
#include "spec/model_toml.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace labrig::spec {
namespace {

constexpr const char* kText = R"([model]
name = "net"
input = [3, 8, 8]

[training]
batch = 16

[card]
capacity_gib = 2
context_mib = 300

[[layer]]
kind = "conv2d"
out = 4
kernel = 3

[[layer]]
kind = "repeat"
times = 2
layers = [{ kind = "residual", layers = [{ kind = "relu" }] }]
)";

std::string with(const std::string& old, const std::string& now) {
  std::string text = kText;
  const std::size_t at = text.find(old);
  return at == std::string::npos ? "" : text.replace(at, old.size(), now);
}

TEST(ModelToml, IsReadWithItsDefaults) {
  const ModelFile file = parse_model(kText, "net.toml").value();
  EXPECT_EQ(file.model.input, (std::vector<std::int64_t>{3, 8, 8}));
  EXPECT_EQ(file.training.optimizer, plan::Optimizer::adam);
  EXPECT_EQ(file.training.precision, plan::Precision::f32);
  EXPECT_EQ(file.card->capacity_bytes, std::size_t{2} << 30);
  EXPECT_EQ(file.card->reserve, 0.2);
  ASSERT_EQ(file.model.layers.size(), 2u);
  EXPECT_EQ(file.model.layers[0].stride, 1);
  EXPECT_EQ(file.model.layers[0].place, "net.toml:12:1: ");
  EXPECT_EQ(file.model.layers[1].layers.at(0).layers.at(0).kind, plan::Kind::relu);
}

TEST(ModelToml, OfEachShippedModelIsReadAndPlanned) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LABRIG_MODELS)) {
    const ModelFile file = load_model(entry.path()).value();
    EXPECT_GT(plan::make_plan(file.model, file.training).peak_bytes, 0u) << entry.path();
    ++models;
  }
  EXPECT_GE(models, 4);
}

struct Mistake {
  const char *name, *old, *now, *what;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class ModelTomlMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ModelTomlMistake, IsAnErrorWithItsPlace) {
  const Result<ModelFile> file = parse_model(with(GetParam().old, GetParam().now), "net.toml");
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message().find(GetParam().what), std::string::npos) << file.error().message();
  EXPECT_FALSE(file.error().why().empty());
  EXPECT_FALSE(file.error().fix().empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, ModelTomlMistake,
    testing::Values(
        Mistake{"NotToml", "[model]", "[model", "net.toml:1:"},
        Mistake{"UnknownKind", "\"conv2d\"", "\"conv3d\"", "net.toml:13:8: 'kind' in [[layer]] is not right"},
        Mistake{"KeyOfAnotherKind", "kernel = 3", "kernel = 3\nheads = 2", "net.toml:16:9: unknown key 'heads'"},
        Mistake{"NoBatch", "batch = 16\n", "", "net.toml:5:1: 'batch' is missing in [training]"},
        Mistake{"NoChannels", "[3, 8, 8]", "[0, 8, 8]", "net.toml:3:9: 'input' in [model] is not right"},
        Mistake{"TwoCards", "capacity_gib = 2", "capacity_gib = 2\nprofile = \"t4\"",
                "expected one of profile and capacity_gib, seen both"},
        Mistake{"NoTimes", "times = 2\n", "", "net.toml:17:1: 'times' is missing in [[layer]]"},
        Mistake{"InnerLayer", "{ kind = \"relu\" }", "{ kind = \"relu\", out = 3 }", "net.toml:20:"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace labrig::spec
