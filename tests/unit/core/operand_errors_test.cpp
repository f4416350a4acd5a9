// What operators say about operands that do not go together: PyTorch's text first, then every operand with its place
// and where it came from, and which of them to move.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/ops.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::error_of;
using test::expect_error;

const Device kCard("sim:0");

std::string mismatch(const char* role, const char* device, const char* others, const char* method) {
  return std::string("Expected all tensors to be on the same device, but got ") + role + " is on " + device +
         ", different from other tensors on " + others + " (when checking argument in method " + method + ")";
}

TEST(StrictDevice, BlamesTheFirstArgumentThatDiffersFromTheFirst) {
  AttachedCard card;
  const Tensor here = ones({2, 2}), there = ones({2, 2}, kCard), bias = ones({2}), bias_there = bias.to(kCard);
  expect_error("device-mismatch", mismatch("mat2", "cpu", "sim:0", "wrapper_CUDA_mm"), [&] { mm(there, here); });
  expect_error("device-mismatch", mismatch("mat2", "sim:0", "cpu", "wrapper_CUDA_mm"), [&] { mm(here, there); });
  expect_error("device-mismatch", mismatch("mat1", "cpu", "sim:0", "wrapper_CUDA_addmm"),
               [&] { linear(here, there, bias_there); });
  expect_error("device-mismatch", mismatch("mat1", "sim:0", "cpu", "wrapper_CUDA_addmm"),
               [&] { linear(there, here, bias); });
  expect_error("device-mismatch", mismatch("index", "cpu", "sim:0", "wrapper_CUDA__index_select"),
               [&] { index_select(there, 0, zeros({1}, kI64)); });
  const Tensor scores = ones({2, 3}, kCard), target = zeros({2}, kI64);
  expect_error("device-mismatch", mismatch("target", "cpu", "sim:0", "wrapper_CUDA_nll_loss_forward"),
               [&] { cross_entropy(scores, target); });
  expect_error("device-mismatch", mismatch("weight", "cpu", "sim:0", "wrapper_CUDA_nll_loss_forward"),
               [&] { cross_entropy(scores, target.to(kCard), ones({3})); });
}

TEST(StrictDevice, TakesNoZeroDimTensorAsANumber) {
  AttachedCard card;
  expect_error("device-mismatch", mismatch("index", "cpu", "sim:0", "wrapper_CUDA__index_select"),
               [] { index_select(ones({2}, kCard), 0, full({}, 0, kI64)); });
}

TEST(DeviceMismatch, ListsEveryOperandAndWhereItCameFrom) {
  AttachedCard card;
  Tensor x = ones({2, 3});
  x.set_name("x");
  Tensor weight = zeros({3, 4}, kCard);
  weight.set_name("w");
  const Tensor bias = ones({4}).to(kCard);
  const Error error = error_of([&] { linear(x, weight.t(), bias); });
  EXPECT_EQ(error.why(),
            "linear works on one device: self is f32[4] on sim:0, copied from cpu by to; mat1 'x' is f32[2, 3] on cpu, "
            "made by ones; mat2 'w' is f32[4, 3] on sim:0, a view (t) of 'w'");
  EXPECT_EQ(error.fix(),
            "move mat1 with .to(\"sim:0\"), before the loop if it is used again; moving the others back to the CPU "
            "costs more");
}

TEST(DeviceMismatch, NamesWhatIsOffTheDeviceOfMost) {
  AttachedCard card;
  const Tensor there = ones({3, 4}, kCard);
  const Error one = error_of([&] { linear(there, ones({2, 4}), ones({2})); });
  EXPECT_EQ(one.fix(), "move mat1 with .to(\"cpu\"), before the loop if it is used again");
  const Error tie = error_of([&] { add(ones({4}), there); });
  EXPECT_NE(tie.fix().find("move a with .to(\"sim:0\")"), std::string::npos) << tie.fix();
}

TEST(Origin, IsTheLastStepOfATensor) {
  AttachedCard card;
  // As the message about a tensor beside one of a card gives it.
  const auto origin = [there = ones({7}, kCard)](const Tensor& tensor) {
    const std::string why = error_of([&] { add(tensor, there); }).why();
    const std::size_t start = why.find(" on cpu, ") + 9;
    return why.substr(start, why.find("; b") - start);
  };
  Tensor x = zeros({2, 2});
  EXPECT_EQ(origin(x), "made by zeros");
  EXPECT_EQ(origin(x.select(0, 1)), "a view (select) of a tensor without a name");
  x.set_name("x");
  EXPECT_EQ(origin(x.select(0, 1)), "a view (select) of 'x'");
  EXPECT_EQ(origin(matmul(x, x)), "output of matmul");
  EXPECT_EQ(origin(x.to(kF64)), "copied from 'x' on cpu by to");
  EXPECT_EQ(origin(x.clone()), "copied from 'x' on cpu by clone");
  EXPECT_EQ(origin(arange(3)), "made by arange");
  EXPECT_EQ(origin(tensor<float>({1, 2})), "made by tensor");
}

TEST(UndefinedOperands, AreNamedByTheirRole) {
  const Tensor x = ones({2, 2}), none;
  const auto why = [](auto&& call) {
    const Error error = error_of(call);
    EXPECT_EQ(error.code(), "undefined-tensor");
    return error.why();
  };
  EXPECT_NE(why([&] { add(x, none); }).find("argument 'b' of add"), std::string::npos);
  EXPECT_NE(why([&] { linear(x, none, x); }).find("argument 'mat2' of linear"), std::string::npos);
  EXPECT_NE(why([&] { conv2d(x, none); }).find("argument 'weight' of conv2d"), std::string::npos);
  EXPECT_NE(why([&] { embedding(none, x); }).find("argument 'indices' of embedding"), std::string::npos);
  EXPECT_NE(why([&] { cat({x, none}); }).find("argument 'tensors[1]' of cat"), std::string::npos);
}

}  // namespace
}  // namespace labrig
