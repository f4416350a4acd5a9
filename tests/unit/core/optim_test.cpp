// Optimizers and schedulers: PyTorch's recorded values, groups, state in and out, and errors.
#include "labrig/optim.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "expect_error.hpp"
#include "labrig/autograd.hpp"
#include "labrig/nn.hpp"
#include "labrig/scheduler.hpp"

namespace labrig::optim {
namespace {

using test::error_of;
using test::expect_error;

std::vector<double> values(const Tensor& tensor) {
  const Tensor host = tensor.cpu().to(kF64).detach().contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

Tensor parameter(const std::vector<double>& start, Device device = {}, Dtype dtype = kF32) {
  const Tensor leaf = tensor<double>(start).to(device, dtype);
  leaf.requires_grad_();
  return leaf;
}

void give(const Tensor& parameter, const std::vector<double>& gradient) {
  parameter.set_grad(tensor<double>(gradient).to(parameter.device(), parameter.dtype()));
}

class OnDevice : public testing::TestWithParam<const char*> {
 protected:
  Device device = resolve(GetParam());
};
using Recorded = OnDevice;
using State = OnDevice;
INSTANTIATE_TEST_SUITE_P(Devices, Recorded, testing::Values("cpu", "sim:0"));
INSTANTIATE_TEST_SUITE_P(Devices, State, testing::Values("cpu", "sim:0"));

// --- PyTorch's values ------------------------------------------------------------------------------------------------

nlohmann::json recorded() {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(LABRIG_TEST_GOLDEN "/optimizers.json.gz", "rb"),
                                                        gzclose);
  std::string text(std::size_t{1} << 20, '\0');
  const int bytes = gzread(file.get(), text.data(), static_cast<unsigned>(text.size()));
  text.resize(static_cast<std::size_t>(std::max(bytes, 0)));
  return nlohmann::json::parse(text);
}

std::unique_ptr<Optimizer> optimizer_for(const std::string& name, const Tensor& parameter) {
  const std::vector<Tensor> all = {parameter};
  if (name == "sgd") return std::make_unique<SGD>(all, SgdOptions{.lr = 0.05});
  if (name == "sgd_momentum") {
    return std::make_unique<SGD>(all, SgdOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01});
  }
  if (name == "sgd_nesterov")
    return std::make_unique<SGD>(all, SgdOptions{.lr = 0.05, .momentum = 0.9, .nesterov = true});
  if (name == "adam") return std::make_unique<Adam>(all, AdamOptions{.lr = 0.01});
  if (name == "adam_wd") return std::make_unique<Adam>(all, AdamOptions{.lr = 0.01, .weight_decay = 0.1});
  if (name == "adamw") return std::make_unique<AdamW>(all, AdamWOptions{.lr = 0.01, .weight_decay = 0.1});
  return nullptr;
}

TEST_P(Recorded, ValuesOfPyTorchComeOutStepByStep) {
  const nlohmann::json all = recorded();
  ASSERT_EQ(all.size(), 6U);
  for (const Dtype dtype : {kF32, kF64}) {
    for (const auto& [name, run] : all.items()) {
      const auto params = run.at("params").get<std::vector<std::vector<double>>>();
      const Tensor w = parameter(params[0], device, dtype);
      const auto optimizer = optimizer_for(name, w);
      ASSERT_NE(optimizer, nullptr) << name;
      for (std::size_t step = 1; step < params.size(); ++step) {
        give(w, run.at("grads")[step - 1].get<std::vector<double>>());
        optimizer->step();
        const std::vector<double> ours = values(w);
        for (std::size_t i = 0; i < ours.size(); ++i) {
          const double limit = (dtype == kF64 ? 1e-12 : 1e-6) * std::max(1.0, std::abs(params[step][i]));
          ASSERT_NEAR(ours[i], params[step][i], limit) << name << " step " << step << " " << name_of(dtype);
        }
      }
    }
  }
}

// --- steps and groups ------------------------------------------------------------------------------------------------

TEST(Step, LeavesParametersWithoutAGradientAlone) {
  const Tensor a = parameter({1}), b = parameter({1});
  Adam optimizer({a, b}, {.lr = 0.5});
  give(a, {2});
  optimizer.step();
  EXPECT_NEAR(a.item(), 0.5, 1e-6);
  EXPECT_EQ(b.item(), 1);
  EXPECT_EQ(optimizer.state_dict().state.size(), 1U);
}

TEST(Step, ChangesLeavesThatRequireAGradientAndRecordsNothing) {
  const Tensor w = parameter({1, 2});
  SGD optimizer({w}, {.lr = 1});
  sum(mul(w, w)).backward();
  const auto version = w.version();
  optimizer.step();
  EXPECT_EQ(values(w), (std::vector<double>{-1, -2}));
  EXPECT_TRUE(w.is_leaf());
  EXPECT_TRUE(w.requires_grad());
  EXPECT_GT(w.version(), version);
}

TEST(Groups, HaveTheirOwnSettingsAndTheDefaultsElsewhere) {
  const Tensor a = parameter({1}), b = parameter({1});
  std::vector<ParameterGroup> groups = {{{a}, {}}, {{b}, {{"lr", 0.25}}}};
  SGD optimizer(groups, {.lr = 0.5});
  give(a, {1});
  give(b, {1});
  optimizer.step();
  EXPECT_EQ(a.item(), 0.5);
  EXPECT_EQ(b.item(), 0.75);
  optimizer.param_groups()[1].lr() = 0.5;
  optimizer.step();
  EXPECT_EQ(b.item(), 0.25);
}

TEST(ZeroGrad, LetsGradientsGoOrSetsThemToZero) {
  const Tensor w = parameter({1, 2});
  SGD optimizer({w});
  give(w, {3, 4});
  const Tensor gradient = w.grad();
  optimizer.zero_grad(false);
  EXPECT_EQ(values(w.grad()), (std::vector<double>{0, 0}));
  EXPECT_TRUE(w.grad().is_same(gradient));
  optimizer.zero_grad();
  EXPECT_FALSE(w.grad().defined());
}

// --- state -----------------------------------------------------------------------------------------------------------

TEST_P(State, IsMadeAtTheFirstStepBesideTheParameterAndNamed) {
  Tensor w = parameter({1, 2}, device);
  w.set_name("fc1.weight");
  Adam optimizer({w});
  EXPECT_TRUE(optimizer.state_dict().state.empty());
  give(w, {1, 1});
  optimizer.step();
  const auto state = optimizer.state_dict().state.at(0);
  EXPECT_EQ(state.at("exp_avg").device(), device);
  EXPECT_EQ(state.at("exp_avg").name(), "exp_avg of 'fc1.weight'");
  EXPECT_EQ(state.at("exp_avg_sq").sizes(), w.sizes());
  EXPECT_EQ(state.at("step").device(), Device{});
  EXPECT_EQ(state.at("step").item(), 1);
}

TEST_P(State, ContinuesARunAsIfNothingHadHappened) {
  const auto make = [](const std::string& name, const Tensor& w) { return optimizer_for(name, w); };
  for (const char* name : {"sgd_momentum", "sgd_nesterov", "adamw"}) {
    const Tensor whole = parameter({1, -2, 3}, device), resumed = parameter({1, -2, 3}, device);
    const auto through = make(name, whole);
    auto before = make(name, resumed);
    const auto both = [&](Optimizer& second, double gradient) {
      for (const Tensor* w : {&whole, &resumed}) give(*w, {gradient, 1, -gradient});
      through->step();
      second.step();
    };
    for (int step = 0; step < 3; ++step) both(*before, step);
    const optim::State saved = before->state_dict();
    const auto after = make(name, resumed);
    after->load_state_dict(saved);
    before.reset();
    for (int step = 0; step < 3; ++step) both(*after, 2 - step);
    EXPECT_EQ(values(whole), values(resumed)) << name;
  }
}

TEST(State, IsCopiedToWhereTheParameterIs) {
  const Device card = resolve("sim:0");
  const Tensor here = parameter({1, 2}), there = parameter({1, 2}, card);
  Adam first({here}), second({there});
  give(here, {1, 1});
  first.step();
  second.load_state_dict(first.state_dict());
  const auto loaded = second.state_dict().state.at(0);
  EXPECT_EQ(loaded.at("exp_avg").device(), card);
  EXPECT_EQ(loaded.at("step").item(), 1);
  Adam third({here});
  third.load_state_dict(first.state_dict());
  EXPECT_FALSE(third.state_dict().state.at(0).at("exp_avg").is_same(first.state_dict().state.at(0).at("exp_avg")));
}

TEST(State, LeftBehindByAMovedModelIsNamedAndCanFollow) {
  nn::Linear layer(2, 1);
  Adam optimizer(layer.parameters());
  const auto step = [&] {
    optimizer.zero_grad();
    sum(layer(ones({1, 2}, layer.weight.device()))).backward();
    optimizer.step();
  };
  step();
  layer.to("sim:0");
  const Error error = error_of(step);
  EXPECT_EQ(error.code(), "device-mismatch");
  EXPECT_STREQ(error.what(),
               "Expected all tensors to be on the same device, but found at least two devices, sim:0 and cpu!");
  EXPECT_NE(error.why().find("exp_avg of 'weight'"), std::string::npos) << error.why();
  optimizer.load_state_dict(optimizer.state_dict());
  step();
  EXPECT_EQ(optimizer.state_dict().state.at(0).at("step").item(), 2);
}

TEST(State, OfOtherGroupsIsRefusedAndChangesNothing) {
  const Tensor a = parameter({1}), b = parameter({2});
  SGD one({a, b}, {.lr = 0.5}), two({a}, {.lr = 0.25});
  expect_error("bad-optimizer",
               "loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
               [&] { one.load_state_dict(two.state_dict()); });
  EXPECT_EQ(one.param_groups()[0].lr(), 0.5);
  two.add_param_group({{b}, {}});
  expect_error("bad-optimizer", "loaded state dict has a different number of parameter groups",
               [&] { one.load_state_dict(two.state_dict()); });
}

// --- errors ----------------------------------------------------------------------------------------------------------

TEST(BadOptimizer, SpeaksPyTorchsWords) {
  const Tensor w = parameter({1});
  const auto refused = [](const char* what, const std::function<void()>& make) {
    expect_error("bad-optimizer", what, make);
  };
  refused("optimizer got an empty parameter list", [] { SGD optimizer(std::vector<Tensor>{}); });
  refused("can't optimize a non-leaf Tensor", [&] { SGD optimizer({mul(w, 2)}); });
  refused("some parameters appear in more than one parameter group", [&] { SGD optimizer({w, w}); });
  refused("Invalid learning rate: -1.0", [&] { SGD optimizer({w}, {.lr = -1}); });
  refused("Invalid momentum value: -0.5", [&] { SGD optimizer({w}, {.momentum = -0.5}); });
  refused("Invalid weight_decay value: nan", [&] { SGD optimizer({w}, {.weight_decay = NAN}); });
  refused("Nesterov momentum requires a momentum and zero dampening", [&] { SGD optimizer({w}, {.nesterov = true}); });
  refused("Invalid epsilon value: -1e-08", [&] { Adam optimizer({w}, {.eps = -1e-8}); });
  refused("Invalid beta parameter at index 1: 1.0", [&] { AdamW optimizer({w}, {.beta2 = 1}); });
  refused("there is no setting 'learning_rate'",
          [&] { SGD optimizer(std::vector<ParameterGroup>{{{w}, {{"learning_rate", 1}}}}); });
}

// --- schedulers ------------------------------------------------------------------------------------------------------

class Schedule : public testing::Test {
 protected:
  Tensor w = parameter({1});
  SGD optimizer{{w}, {.lr = 0.5}};
  double lr() { return optimizer.param_groups()[0].lr(); }
  std::vector<double> run(Scheduler& scheduler, int epochs) {
    std::vector<double> rates = {lr()};
    for (int epoch = 0; epoch < epochs; ++epoch) {
      scheduler.step();
      rates.push_back(lr());
    }
    return rates;
  }
};

TEST_F(Schedule, StepLRMultipliesEveryFewEpochs) {
  StepLR scheduler(optimizer, 2, 0.5);
  EXPECT_EQ(run(scheduler, 5), (std::vector<double>{0.5, 0.5, 0.25, 0.25, 0.125, 0.125}));
  EXPECT_EQ(scheduler.last_epoch(), 5);
}

TEST_F(Schedule, CosineAnnealingGoesDownAndUpAgain) {
  CosineAnnealingLR scheduler(optimizer, 4, 0.1);
  const std::vector<double> rates = run(scheduler, 12);
  for (int epoch = 0; epoch <= 12; ++epoch) {
    EXPECT_NEAR(rates[static_cast<std::size_t>(epoch)], 0.1 + 0.4 * (1 + std::cos(std::numbers::pi * epoch / 4)) / 2,
                1e-12)
        << epoch;
  }
}

TEST_F(Schedule, LambdaLRWarmsUpFromTheStart) {
  LambdaLR scheduler(optimizer, [](std::int64_t epoch) { return std::min(1.0, static_cast<double>(epoch + 1) / 4); });
  EXPECT_EQ(run(scheduler, 4), (std::vector<double>{0.125, 0.25, 0.375, 0.5, 0.5}));
}

TEST_F(Schedule, ContinuesFromItsState) {
  StepLR first(optimizer, 2, 0.5);
  run(first, 3);
  SGD again({w}, {.lr = 0.5});
  again.load_state_dict(optimizer.state_dict());
  StepLR second(again, 2, 0.5);
  second.load_state_dict(first.state_dict());
  second.step();
  EXPECT_EQ(again.param_groups()[0].lr(), 0.125);
  EXPECT_EQ(second.last_lrs(), std::vector<double>{0.125});
}

TEST_F(Schedule, KnowsTheGroupsItWasMadeWith) {
  StepLR scheduler(optimizer, 2);
  optimizer.add_param_group({{parameter({2})}, {}});
  EXPECT_EQ(error_of([&] { scheduler.step(); }).code(), "bad-scheduler");
  EXPECT_EQ(error_of([&] { StepLR(optimizer, 0); }).code(), "bad-scheduler");
  EXPECT_EQ(error_of([&] { CosineAnnealingLR(optimizer, 0); }).code(), "bad-scheduler");
}

TEST(OptimizerState, NeedsANumberOfSteps) {
  const Tensor w = ones({2}).requires_grad_();
  w.set_grad(ones({2}));
  optim::Adam adam({w});
  adam.step();
  for (const Tensor& step : {ones({3}), full({}, std::nan("")), full({}, -1)}) {
    optim::State state = adam.state_dict();
    state.state[0]["step"] = step;
    EXPECT_EQ(test::error_of([&] { adam.load_state_dict(state); }).code(), "bad-optimizer");
  }
}

}  // namespace
}  // namespace labrig::optim
