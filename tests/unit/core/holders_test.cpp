// Who keeps a block alive: the answer that ends the search for a leak.
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_card.hpp"
#include "labrig/autograd.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"

namespace labrig {
namespace {

const Device kCard("sim:0");

std::vector<std::string> holders_at(const Tensor& tensor) {
  for (const MemoryHolders& block : memory_holders(kCard)) {
    if (block.address == tensor.data_ptr()) return block.holders;
  }
  return {};
}

std::size_t blocks_of(const std::string& holder) {
  const auto blocks = memory_holders(kCard);
  return static_cast<std::size_t>(std::count_if(blocks.begin(), blocks.end(), [&](const MemoryHolders& block) {
    return std::find(block.holders.begin(), block.holders.end(), holder) != block.holders.end();
  }));
}

using Texts = std::vector<std::string>;

TEST(Holders, AreTheTensorsInABlockInTheOrderInWhichTheyCame) {
  test::AttachedCard card;
  Tensor x = zeros({2, 3}, kCard);
  x.set_name("features");
  Tensor row = x[0];
  row.set_name("first row");
  const Tensor nameless = zeros({4}, kCard);
  EXPECT_EQ(holders_at(x), (Texts{"tensor 'features' f32[2, 3]", "tensor 'first row' f32[3]"}));
  EXPECT_EQ(holders_at(nameless), (Texts{"a tensor f32[4]"}));
  x = {};
  EXPECT_EQ(holders_at(row), (Texts{"tensor 'features' f32[2, 3]", "tensor 'first row' f32[3]"}));
  const auto blocks = memory_holders(kCard);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name, "features");
  EXPECT_EQ(blocks[0].bytes, 512u);
  row = {};
  EXPECT_EQ(memory_holders(kCard).size(), 1u);
  EXPECT_TRUE(memory_holders(Device{}).empty());
}

TEST(Holders, NameTheTensorOfAGradient) {
  test::AttachedCard card;
  Tensor weight = ones({4}, kCard);
  weight.set_name("fc1.weight").requires_grad_();
  mul(weight, Scalar(2)).backward(ones({4}, kCard));
  EXPECT_EQ(holders_at(weight.grad()), (Texts{"gradient of 'fc1.weight'"}));
}

TEST(Holders, FindTheListOfLossesThatKeepsEveryGraph) {
  test::AttachedCard card;
  const Tensor weight = ones({256}, kCard).requires_grad_();
  const auto step = [&](int number) {
    Tensor loss = sum(exp(mul(weight, Scalar(2))));
    loss.set_name("loss " + std::to_string(number));
    return loss;
  };
  {
    std::vector<Tensor> losses;
    for (int i = 0; i < 3; ++i) losses.push_back(step(i));
    EXPECT_EQ(blocks_of("saved for backward by ExpBackward0 in the graph of 'loss 0'"), 1u);
    EXPECT_EQ(blocks_of("saved for backward by ExpBackward0 in the graph of 'loss 2'"), 1u);
    losses[0].backward();  // lets go of what was saved
    EXPECT_EQ(blocks_of("saved for backward by ExpBackward0 in the graph of 'loss 0'"), 0u);
  }
  const std::size_t before = memory_holders(kCard).size();
  Tensor total = zeros({}, kCard);
  for (int i = 0; i < 3; ++i) total = add(total, step(i));
  total.set_name("total");
  EXPECT_EQ(blocks_of("saved for backward by ExpBackward0 in the graph of 'total'"), 3u);
  total = zeros({}, kCard);
  for (int i = 0; i < 3; ++i) add_(total, step(i).detach());
  EXPECT_EQ(memory_holders(kCard).size(), before + 1);
}

TEST(Holders, FindAGraphThatALossOnTheHostKeeps) {
  test::AttachedCard card;
  const Tensor weight = ones({256}, kCard).requires_grad_();
  Tensor loss = sum(exp(weight)).cpu();
  loss.set_name("loss");
  EXPECT_EQ(blocks_of("saved for backward by ExpBackward0 in the graph of 'loss'"), 1u);
}

}  // namespace
}  // namespace labrig
