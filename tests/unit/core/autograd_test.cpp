// The engine: which gradients arrive where, in which order the graph is walked, and what it lets go.
#include "labrig/autograd.hpp"

#include <gtest/gtest.h>

#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;

TEST(Autograd, MultipliesWithBroadcastingAndGaps) {
  const auto product = [](const Tensors& x) { return mul(x[0], x[1]); };
  const Tensor a = gradcheck_values({2, 3}, 1), b = gradcheck_values({3}, 2);
  EXPECT_TRUE(gradients_match(product, {a, b}));
  EXPECT_TRUE(gradients_match(product, {a.t(), gradcheck_values({3, 1}, 3).expand({3, 2})}));
  EXPECT_TRUE(gradients_match(product, {gradcheck_values({}, 4), a.narrow(1, 1, 0)}));
}

TEST(Autograd, IsFoundOutByTheDifferencesWhenItIsWrong) {
  const auto wrong = [](const Tensors& x) { return mul(x[0], x[0].detach()); };
  EXPECT_FALSE(gradients_match(wrong, {gradcheck_values({2}, 5)}));
}

}  // namespace
}  // namespace labrig
