// Modules and layers: what is registered where, moving in place, state in and out, initial values, and a network that
// learns. What the operators compute is tested with them.
#include "labrig/nn.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.hpp"
#include "labrig/autograd.hpp"
#include "labrig/memory.hpp"
#include "labrig/optim.hpp"
#include "labrig/random.hpp"
#include "labrig/trace.hpp"

namespace labrig::nn {
namespace {

using test::error_of;
using test::expect_error;

std::vector<double> values(const Tensor& tensor) {
  const Tensor host = tensor.cpu().to(kF64).detach().contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

std::vector<std::string> names(const NamedTensors& tensors) {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : tensors) all.push_back(name);
  return all;
}
using Names = std::vector<std::string>;

struct Net : Module {
  Linear hidden{2, 8}, out{8, 1};
  Net() { register_module("hidden", hidden), register_module("out", out); }
  Tensor forward(const Tensor& x) override { return out(tanh(hidden(x))); }
};

// --- the tree --------------------------------------------------------------------------------------------------------

TEST(Modules, NameTheirPartsByTheWayToThem) {
  Sequential model(Linear(2, 3), ReLU(), Sequential(BatchNorm1d(3), Linear(3, 1, false)));
  EXPECT_EQ(names(model.named_parameters()), (Names{"0.weight", "0.bias", "2.0.weight", "2.0.bias", "2.1.weight"}));
  EXPECT_EQ(names(model.named_buffers()), (Names{"2.0.running_mean", "2.0.running_var", "2.0.num_batches_tracked"}));
  EXPECT_EQ(names(model.state_dict()), (Names{"0.weight", "0.bias", "2.0.weight", "2.0.bias", "2.0.running_mean",
                                              "2.0.running_var", "2.0.num_batches_tracked", "2.1.weight"}));
  for (const auto& [name, tensor] : model.named_parameters()) EXPECT_EQ(tensor.name(), name);
  EXPECT_EQ(model.named_children()[2].second.named_children()[0].first, "0");
}

TEST(Modules, AreHandlesThatShareWhatTheyAreMadeOf) {
  Net net;
  Net copy = net;
  EXPECT_TRUE(copy.hidden.weight.is_same(net.hidden.weight));
  copy.eval();
  EXPECT_FALSE(net.hidden.is_training());
  EXPECT_EQ(values(copy(ones({1, 2}))), values(net(ones({1, 2}))));
}

TEST(Modules, CountASharedParameterOnceButKeepBothNamesInTheState) {
  struct Tied : Module {
    Linear a{2, 2, false}, b = a;
    Tied() { register_module("a", a), register_module("b", b); }
  } tied;
  EXPECT_EQ(names(tied.named_parameters()), (Names{"a.weight"}));
  EXPECT_EQ(names(tied.state_dict()), (Names{"a.weight", "b.weight"}));
}

TEST(Modules, RefuseNamesThatAStateCouldNotHold) {
  Net net;
  EXPECT_EQ(error_of([&] { net.register_module("hidden", Linear(1, 1)); }).code(), "bad-name");
  EXPECT_EQ(error_of([&] { net.register_parameter("a.b", zeros({1})); }).code(), "bad-name");
  EXPECT_EQ(error_of([&] { net.register_buffer("", zeros({1})); }).code(), "bad-name");
  EXPECT_EQ(error_of([&] { net.register_module("self", net); }).code(), "bad-name");
  EXPECT_EQ(error_of([&] { net.hidden.register_module("above", net); }).code(), "bad-name");
  EXPECT_EQ(error_of([&] { net.register_parameter("w", mul(net.out.weight, 2)); }).code(), "not-a-leaf");
}

TEST(Modules, WithoutAForwardSaySo) {
  struct Silent : Module {
  } silent;
  expect_error("no-forward", "Module [Silent] is missing the required \"forward\" function",
               [&] { silent(zeros({1})); });
}

TEST(Modules, LetGradientsGoOrSetThemToZero) {
  Net net;
  sum(net(ones({1, 2}))).backward();
  net.zero_grad(false);
  EXPECT_EQ(values(net.out.bias.grad()), std::vector<double>{0});
  net.zero_grad();
  EXPECT_FALSE(net.out.bias.grad().defined());
  net.requires_grad_(false);
  EXPECT_FALSE(net(ones({1, 2})).requires_grad());
}

// --- where it lives --------------------------------------------------------------------------------------------------

TEST(To, MovesInPlaceSoThatEveryHandleAndOptimizerFollows) {
  const Device card = resolve("sim:0");
  Net net;
  const Tensor weight = net.hidden.weight;
  optim::SGD optimizer(net.parameters(), {.lr = 1});
  const Tensor loss = sum(net(ones({1, 2})));  // its graph lives on, and knows the old place
  loss.backward();
  const std::vector<double> before = values(weight), gradient = values(weight.grad());
  net.to(card);
  EXPECT_EQ(weight.device(), card);
  EXPECT_TRUE(weight.is_same(net.hidden.weight));
  EXPECT_TRUE(weight.is_leaf());
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_EQ(weight.grad().device(), card);
  EXPECT_EQ(values(weight), before);
  optimizer.step();
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(values(weight)[i], before[i] - gradient[i], 1e-6);
  optimizer.zero_grad();
  sum(net(ones({1, 2}, card))).backward();
  EXPECT_EQ(weight.grad().device(), card);
}

TEST(To, IsSeenByTheListOfWhoKeepsMemory) {
  const auto holds = [] {
    for (const MemoryHolders& block : memory_holders("sim:0")) {
      for (const std::string& holder : block.holders) {
        if (holder.find("'hidden.weight'") != std::string::npos) return true;
      }
    }
    return false;
  };
  Net net;
  net.to("sim:0");
  EXPECT_TRUE(holds());
  net.to("cpu");
  EXPECT_FALSE(holds());
}

TEST(To, ConvertsFloatingPointTensorsAlone) {
  Sequential model(BatchNorm1d(2));
  model.half();
  EXPECT_EQ(find(model.state_dict(), "0.running_mean").dtype(), kF16);
  EXPECT_EQ(find(model.state_dict(), "0.num_batches_tracked").dtype(), kI64);
  model.to("sim:0", kF64);
  EXPECT_EQ(find(model.state_dict(), "0.weight").dtype(), kF64);
  EXPECT_EQ(find(model.state_dict(), "0.num_batches_tracked").device(), resolve("sim:0"));
  expect_error("dtype-mismatch",
               "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.int64",
               [&] { model.to(kI64); });
}

// --- state -----------------------------------------------------------------------------------------------------------

TEST(StateDict, GoesIntoAModelOnAnyDevice) {
  Net from, to;
  to.to("sim:0");
  const Tensor before = to.hidden.weight;
  const IncompatibleKeys keys = to.load_state_dict(from.state_dict());
  EXPECT_TRUE(keys.missing.empty() && keys.unexpected.empty());
  EXPECT_EQ(values(to.hidden.weight), values(from.hidden.weight));
  EXPECT_TRUE(before.is_same(to.hidden.weight));
  EXPECT_EQ(to.out.bias.device(), resolve("sim:0"));
  for (const auto& [name, tensor] : from.state_dict()) EXPECT_FALSE(tensor.requires_grad()) << name;
}

TEST(StateDict, ThatDoesNotFitIsToldInPyTorchsWords) {
  expect_error("state-dict", "Error(s) in loading state_dict for Linear:\n\tMissing key(s) in state_dict: \"bias\". ",
               [] { Linear(2, 2).load_state_dict({{"weight", zeros({2, 2})}}); });
  expect_error("state-dict",
               "Error(s) in loading state_dict for Linear:\n\tsize mismatch for weight: copying a param with shape "
               "torch.Size([3, 2]) from checkpoint, the shape in current model is torch.Size([2, 2]).",
               [] { Linear(2, 2).load_state_dict({{"weight", zeros({3, 2})}, {"bias", zeros({2})}}); });
  expect_error(
      "state-dict",
      "Error(s) in loading state_dict for Linear:\n\tMissing key(s) in state_dict: \"bias\". \n\tUnexpected "
      "key(s) in state_dict: \"extra\". \n\tsize mismatch for weight: copying a param with shape torch.Size([2, "
      "4]) from checkpoint, the shape in current model is torch.Size([2, 3]).",
      [] { Linear(3, 2).load_state_dict({{"weight", zeros({2, 4})}, {"extra", zeros({1})}}); });
}

TEST(StateDict, ListsWhatIsTooManyModuleByModule) {
  NamedTensors state = Net().state_dict();
  state.insert(state.begin(), {{"out.more", zeros({1})}, {"other.weight", zeros({1})}, {"top", zeros({1})}});
  const IncompatibleKeys keys = Net().load_state_dict(state, false);
  EXPECT_EQ(keys.unexpected, (Names{"other.weight", "top", "out.more"}));
}

TEST(StateDict, CopiesWhatFitsEvenWhenItThrows) {
  Linear layer(2, 2);
  error_of([&] { layer.load_state_dict({{"weight", zeros({3, 2})}, {"bias", full({2}, 7)}}); });
  EXPECT_EQ(values(layer.bias), (std::vector<double>{7, 7}));
  const IncompatibleKeys keys = layer.load_state_dict({{"bias", full({2}, 8)}}, false);
  EXPECT_EQ(keys.missing, Names{"weight"});
  EXPECT_EQ(values(layer.bias), (std::vector<double>{8, 8}));
}

// --- layers ----------------------------------------------------------------------------------------------------------

TEST(Layers, StartWithPyTorchsRangesAndTheSameValuesOnEveryDevice) {
  manual_seed(5);
  const Linear here(16, 64);
  manual_seed(5);
  const Linear there(16, 64, true, Device("sim:0"));
  EXPECT_EQ(values(here.weight), values(there.weight));
  EXPECT_EQ(values(here.bias), values(there.bias));
  double largest = 0;
  for (const double value : values(here.weight)) largest = std::max(largest, std::abs(value));
  EXPECT_LE(largest, 0.25);  // 1 / sqrt(16)
  EXPECT_GT(largest, 0.24);
  const Conv2d convolution(4, 8, {2, 2});
  largest = 0;
  for (const double value : values(convolution.weight)) largest = std::max(largest, std::abs(value));
  EXPECT_LE(largest, 0.25);  // 1 / sqrt(4 x 2 x 2)
  EXPECT_GT(largest, 0.2);
}

TEST(Layers, ComputeWhatTheirOperatorsDo) {
  const Tensor x = tensor<float>({-1, 0.5, 2, 3}).view({2, 2});
  EXPECT_EQ(values(ReLU()(x)), values(relu(x)));
  EXPECT_EQ(values(GELU(Gelu::tanh)(x)), values(gelu(x, Gelu::tanh)));
  EXPECT_EQ(values(Tanh()(x)), values(tanh(x)));
  EXPECT_EQ(values(Sigmoid()(x)), values(sigmoid(x)));
  EXPECT_EQ(values(Softmax(1)(x)), values(softmax(x, 1)));
  EXPECT_TRUE(Identity()(x).is_same(x));
  const Tensor changed = x.clone();
  EXPECT_TRUE(ReLU(true)(changed).is_same(changed));
  EXPECT_EQ(values(changed), values(relu(x)));
  EXPECT_EQ(values(LayerNorm(2)(x)), values(layer_norm(x, {2}, ones({2}), zeros({2}))));
  Conv2d convolution(1, 2, 3, {.stride = 2, .padding = {1, 0}, .bias = false});
  EXPECT_EQ(convolution(zeros({1, 1, 5, 5})).sizes(), (Dims{1, 2, 3, 2}));
}

TEST(Layers, FlattenJoinsDimensions) {
  EXPECT_EQ(Flatten()(zeros({2, 3, 4})).sizes(), (Dims{2, 12}));
  EXPECT_EQ(Flatten(0, 1)(zeros({2, 3, 4})).sizes(), (Dims{6, 4}));
  EXPECT_EQ(Flatten(1)(zeros({0, 3, 4})).sizes(), (Dims{0, 12}));
  EXPECT_EQ(Flatten(0)(zeros({})).sizes(), (Dims{1}));
  EXPECT_EQ(error_of([] { Flatten(2, 1)(zeros({2, 3, 4})); }).code(), "invalid-shape");
}

TEST(Layers, EmbeddingKeepsItsPaddingRowAtZero) {
  Embedding table(5, 3, -1);
  const std::vector<double> rows = values(table(tensor<std::int64_t>({4, 0})));
  EXPECT_EQ(std::vector<double>(rows.begin(), rows.begin() + 3), (std::vector<double>{0, 0, 0}));
  EXPECT_NE(rows[3], 0);
  EXPECT_EQ(error_of([] { Embedding(5, 3, 5); }).what(), std::string("Padding_idx must be within num_embeddings"));
}

TEST(Layers, DropoutDropsInTrainingAlone) {
  Dropout dropout(0.5);
  const Tensor x = ones({1000});
  double kept = 0;
  for (const double value : values(dropout(x))) {
    EXPECT_TRUE(value == 0 || value == 2);
    kept += value == 2;
  }
  EXPECT_NEAR(kept, 500, 80);
  dropout.eval();
  EXPECT_EQ(values(dropout(x)), values(x));
  expect_error("bad-probability", "dropout probability has to be between 0 and 1, but got 1.5", [] { Dropout(1.5); });
}

TEST(BatchNormLayer, LearnsTheStatisticsInTrainingAndUsesThemAfterwards) {
  BatchNorm1d norm(1);
  const Tensor x = tensor<float>({1, 3}).view({2, 1});  // mean 2, variance 1, unbiased 2
  const std::vector<double> normed = values(norm(x));
  EXPECT_NEAR(normed[1], 1, 1e-4);
  EXPECT_NEAR(norm.running_mean.item(), 0.2, 1e-6);
  EXPECT_NEAR(norm.running_var.item(), 1.1, 1e-6);
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 1);
  norm.eval();
  EXPECT_NEAR(values(norm(x))[1], (3 - 0.2) / std::sqrt(1.1 + 1e-5), 1e-5);
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 1);
}

TEST(BatchNormLayer, WithoutMomentumAveragesAllBatches) {
  BatchNorm1d norm(1, {.momentum = {}});
  norm(tensor<float>({1, 3}).view({2, 1}));
  norm(tensor<float>({4, 8}).view({2, 1}));
  EXPECT_NEAR(norm.running_mean.item(), 4, 1e-6);
}

TEST(BatchNormLayer, ChecksDimensions) {
  expect_error("invalid-shape", "expected 4D input (got 2D input)", [] { BatchNorm2d(2)(zeros({2, 2})); });
  expect_error("invalid-shape", "expected 2D or 3D input (got 4D input)", [] { BatchNorm1d(2)(zeros({2, 2, 1, 1})); });
}

// --- gradients -------------------------------------------------------------------------------------------------------

TEST(ClipGradNorm, ScalesAllGradientsByOneFactorAndDoesNotWait) {
  for (const char* device : {"cpu", "sim:0"}) {
    const Tensor a = zeros({2}, Device(device)), b = zeros({1}, Device(device)), without = zeros({1}, Device(device));
    a.set_grad(tensor<float>({3, 0}).to(Device(device)));
    b.set_grad(tensor<float>({4}).to(Device(device)));
    const trace::Recorder recorder;
    const Tensor norm = utils::clip_grad_norm_({a, b, without}, 1);
    for (const trace::Event& event : recorder.events()) EXPECT_NE(event.kind, trace::Kind::sync) << event.name;
    EXPECT_NEAR(norm.item(), 5, 1e-6);
    EXPECT_NEAR(values(a.grad())[0], 0.6, 1e-6);
    EXPECT_NEAR(values(b.grad())[0], 0.8, 1e-6);
    utils::clip_grad_norm_({a, b}, 10);
    EXPECT_NEAR(values(b.grad())[0], 0.8, 1e-6);
    utils::clip_grad_value_({a, b}, 0.7);
    EXPECT_NEAR(values(a.grad())[0], 0.6, 1e-6);
    EXPECT_NEAR(values(b.grad())[0], 0.7, 1e-6);
  }
  EXPECT_EQ(utils::clip_grad_norm_({zeros({1})}, 1).item(), 0);
}

TEST(ClipGradNorm, SaysThatTheNormIsNotFiniteWhenAsked) {
  const Tensor w = zeros({1});
  w.set_grad(full({1}, std::numeric_limits<double>::infinity()));
  EXPECT_EQ(error_of([&] { utils::clip_grad_norm_({w}, 1, true); }).code(), "not-finite");
}

// --- all together ----------------------------------------------------------------------------------------------------

// The losses of 40 steps on XOR-like data.
std::vector<double> train(Device device) {
  manual_seed(1);
  Net net;
  net.to(device);
  optim::Adam optimizer(net.parameters(), {.lr = 0.05});
  const Tensor x = tensor<float>({0, 0, 0, 1, 1, 0, 1, 1}).view({4, 2}).to(device);
  const Tensor y = tensor<float>({0, 1, 1, 0}).view({4, 1}).to(device);
  std::vector<double> losses;
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(net(x), y);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

TEST(Training, LowersTheLossAlikeOnHostAndCard) {
  const std::vector<double> host = train("cpu"), card = train("sim:0");
  EXPECT_LT(host.back(), 0.2 * host.front());
  for (std::size_t i = 0; i < host.size(); ++i) EXPECT_NEAR(card[i], host[i], 1e-4 * host[i]) << i;
}

}  // namespace
}  // namespace labrig::nn
