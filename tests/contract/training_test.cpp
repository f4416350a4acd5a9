// Whole training runs: the same losses on every device, step for step, and with mixed precision the same curves as
// PyTorch's, those of what goes wrong included. The models are small, and each has what the large ones of its kind
// have.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "contract.hpp"
#include "labrig/amp.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"
#include "labrig/random.hpp"
#include "support/amp_curves.hpp"

namespace labrig::contract {
namespace {

constexpr int kSteps = 50;

// --- models and data
// ---------------------------------------------------------------------------------------------------

struct Mlp : nn::Module {
  nn::Linear first{16, 48}, second{48, 32}, out{32, 4};
  Mlp() {
    register_module("first", first);
    register_module("second", second);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) override { return out(relu(second(relu(first(x))))); }
};

// x [n, 1, 8, 8] -> 4 classes.
struct Cnn : nn::Module {
  nn::Conv2d first{1, 4, 3, {.padding = 1}}, second{4, 8, 3, {.stride = 2, .padding = 1}};
  nn::BatchNorm2d norm{4};
  nn::Linear out{8 * 4 * 4, 4};
  Cnn() {
    register_module("first", first);
    register_module("norm", norm);
    register_module("second", second);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) override {
    const Tensor y = relu(second(relu(norm(first(x)))));
    return out(y.reshape({y.size(0), -1}));
  }
};

// Attention and an MLP of GELU, each with a residual: x [n, length, width] -> the same.
struct Block : nn::Module {
  static constexpr std::int64_t kWidth = 16, kHeads = 2;
  nn::LayerNorm norm1{kWidth}, norm2{kWidth};
  nn::Linear query{kWidth, kWidth}, key{kWidth, kWidth}, value{kWidth, kWidth}, joined{kWidth, kWidth};
  nn::Linear wide{kWidth, 2 * kWidth}, narrow{2 * kWidth, kWidth};
  Block() {
    const std::pair<const char*, nn::Module*> children[] = {{"norm1", &norm1}, {"query", &query},   {"key", &key},
                                                            {"value", &value}, {"joined", &joined}, {"norm2", &norm2},
                                                            {"wide", &wide},   {"narrow", &narrow}};
    for (const auto& [name, child] : children) register_module(name, *child);
  }
  Tensor forward(const Tensor& x) override {
    const Tensor y = x + attention(norm1(x));
    return y + narrow(gelu(wide(norm2(y))));
  }

 private:
  // [n, length, width] -> [n heads, length, width / heads]
  static Tensor by_head(const Tensor& x) {
    const std::int64_t n = x.size(0), length = x.size(1);
    return x.reshape({n, length, kHeads, kWidth / kHeads})
        .transpose(1, 2)
        .reshape({n * kHeads, length, kWidth / kHeads});
  }
  Tensor attention(const Tensor& x) {
    const std::int64_t n = x.size(0), length = x.size(1);
    const Tensor scores = bmm(by_head(query(x)), by_head(key(x)).transpose(1, 2));
    const Tensor weights = softmax(scores / std::sqrt(kWidth / kHeads), -1);
    const Tensor heads = bmm(weights, by_head(value(x))).reshape({n, kHeads, length, kWidth / kHeads});
    return joined(heads.transpose(1, 2).reshape({n, length, kWidth}));
  }
};

// ids [n, length] -> scores of the next id [n length, ids].
struct Transformer : nn::Module {
  static constexpr std::int64_t kIds = 12;
  nn::Embedding embedding{kIds, Block::kWidth};
  Block block;
  nn::Linear out{Block::kWidth, kIds};
  Transformer() {
    register_module("embedding", embedding);
    register_module("block", block);
    register_module("out", out);
  }
  Tensor forward(const Tensor& ids) override { return out(block(embedding(ids)).reshape({-1, Block::kWidth})); }
};

struct Batch {
  Tensor input, target;
};

// `count` batches of points whose class is the largest of four random products.
std::vector<Batch> classified(const Dims& sizes, int count) {
  std::vector<Batch> batches;
  const std::int64_t width = sizes.product() / sizes[0];
  const Tensor truth = randn({width, 4});
  for (int i = 0; i < count; ++i) {
    const Tensor x = randn(sizes);
    batches.push_back({x, argmax(matmul(x.reshape({sizes[0], width}), truth), 1)});
  }
  return batches;
}

// Each id is followed by three times itself, plus one.
std::vector<Batch> sequences(int count) {
  std::vector<Batch> batches;
  for (int i = 0; i < count; ++i) {
    const Tensor ids = randint(0, Transformer::kIds, {4, 6});
    std::vector<std::int64_t> next;
    for (const std::int64_t id : ids.data<const std::int64_t>()) next.push_back((3 * id + 1) % Transformer::kIds);
    batches.push_back({ids, tensor(next)});
  }
  return batches;
}

// The loss of each step.
std::vector<double> losses_of(nn::Module& model, optim::Optimizer& optimizer, const std::vector<Batch>& batches,
                              Device device) {
  std::vector<double> losses;
  for (std::size_t step = 0; step < kSteps; ++step) {
    const Batch& batch = batches[step % batches.size()];
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(batch.input.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

// --- the same on every device
// --------------------------------------------------------------------------------------------

class Training : public DeviceContract {
 protected:
  using Run = std::function<std::vector<double>(Device)>;

  // Within 1e-4 of the host's; and the model has learnt something.
  void expect_the_losses_of_the_host(const Run& run) const {
    const std::vector<double> host = run(Device()), here = run(device);
    ASSERT_EQ(here.size(), std::size_t{kSteps});
    for (std::size_t i = 0; i < here.size(); ++i) {
      EXPECT_NEAR(here[i], host[i], 1e-4 * host[i]) << "step " << i;
    }
    EXPECT_LT(here.back(), 0.7 * here.front());
  }
};

TEST_P(Training, AnMlpHasTheLossesOfTheHost) {
  expect_the_losses_of_the_host([](Device where) {
    manual_seed(1);
    const auto batches = classified({32, 16}, 5);
    Mlp model;
    model.to(where);
    optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
    return losses_of(model, optimizer, batches, where);
  });
}

TEST_P(Training, AConvolutionalNetworkHasTheLossesOfTheHost) {
  expect_the_losses_of_the_host([](Device where) {
    manual_seed(2);
    const auto batches = classified({16, 1, 8, 8}, 4);
    Cnn model;
    model.to(where);
    optim::Adam optimizer(model.parameters(), {.lr = 5e-3});
    return losses_of(model, optimizer, batches, where);
  });
}

TEST_P(Training, ATransformerBlockHasTheLossesOfTheHost) {
  expect_the_losses_of_the_host([](Device where) {
    manual_seed(3);
    const auto batches = sequences(4);
    Transformer model;
    model.to(where);
    optim::AdamW optimizer(model.parameters(), {.lr = 1e-2});
    return losses_of(model, optimizer, batches, where);
  });
}

// --- mixed precision
// -------------------------------------------------------------------------

using test::goes_as, test::is_nan_after_a_step, test::learns, test::Losses, test::sticks;

enum class Precision { f32, autocast_f16, all_half };

// Four classes of random points, eight batches again and again, Adam with its eps of 1e-8: what the curves were
// recorded with, a fifth as long.
struct Curve {
  Precision precision = Precision::f32;
  bool scaler = false;
  double factor = 1;  // of the loss

  Losses on(Device device) const {
    manual_seed(4);
    const auto batches = classified({32, 16}, test::kCurveBatches);
    Mlp model;
    model.to(device);
    if (precision == Precision::all_half) model.half();
    optim::Adam optimizer(model.parameters(), {.lr = 5e-3});
    amp::GradScaler gradient_scaler({.enabled = scaler});
    Losses losses;
    for (std::size_t step = 0; step < 5 * batches.size(); ++step) {
      const Batch& batch = batches[step % batches.size()];
      optimizer.zero_grad();
      const Tensor loss = loss_of(model, batch, device);
      gradient_scaler.scale(loss).backward();
      gradient_scaler.step(optimizer);
      gradient_scaler.update();
      losses.push_back(loss.item());
    }
    return losses;
  }

 private:
  Tensor loss_of(nn::Module& model, const Batch& batch, Device device) const {
    const amp::AutocastGuard guard(device.type(), kF16, precision == Precision::autocast_f16);
    const Tensor x = batch.input.to(device), y = batch.target.to(device);
    return cross_entropy(model(precision == Precision::all_half ? x.to(kF16) : x).to(kF32), y) * factor;
  }
};

class MixedPrecision : public DeviceContract {};

TEST_P(MixedPrecision, AutocastLearnsAsF32DoesWithAScalerAndWithout) {
  const Losses f32 = Curve{}.on(device);
  EXPECT_TRUE(learns(f32, 0.5)) << testing::PrintToString(f32);
  for (const bool scaler : {true, false}) {
    const Losses f16 = Curve{Precision::autocast_f16, scaler}.on(device);
    EXPECT_TRUE(goes_as(f16, f32)) << "scaler " << scaler << ": " << testing::PrintToString(f16);
  }
}

TEST_P(MixedPrecision, AModelInHalfPrecisionIsNanFromTheSecondStepOn) {
  const Losses losses = Curve{Precision::all_half}.on(device);
  EXPECT_TRUE(is_nan_after_a_step(losses)) << testing::PrintToString(losses);
}

TEST_P(MixedPrecision, ASmallLossIsLearntOnlyWithTheScaler) {
  const Losses f32 = Curve{Precision::f32, false, 1e-6}.on(device);
  EXPECT_TRUE(learns(f32, 0.9)) << testing::PrintToString(f32);
  EXPECT_TRUE(goes_as(Curve{Precision::autocast_f16, true, 1e-6}.on(device), f32));
  const Losses stuck = Curve{Precision::autocast_f16, false, 1e-6}.on(device);
  EXPECT_TRUE(sticks(stuck)) << testing::PrintToString(stuck);
  EXPECT_FALSE(sticks(f32));
}

const auto name_of_card = [](const auto& parameter) { return std::string(name_of(Device(parameter.param).type())); };
INSTANTIATE_TEST_SUITE_P(Every, Training, testing::Values("sim:0", "cuda:0"), name_of_card);
INSTANTIATE_TEST_SUITE_P(Every, MixedPrecision, testing::Values("sim:0", "cuda:0"), name_of_card);

}  // namespace
}  // namespace labrig::contract
