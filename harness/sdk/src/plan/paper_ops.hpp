// The operators on paper. For each, paper_ops.cpp says what it makes, what it keeps for backward() and what its way
// back makes, which is what the operator of the same name in reference/src/ops does, and PyTorch's with it.
#pragma once

#include "plan/paper.hpp"

namespace labrig::plan::paper {

// `bias` null: without one.
PaperTensor linear(Paper& paper, const PaperTensor& x, PaperParameter& weight, PaperParameter* bias);
// `map`: sizes of the output.
PaperTensor conv2d(Paper& paper, const PaperTensor& x, PaperParameter& weight, PaperParameter* bias, const Dims& map);
PaperTensor bmm(Paper& paper, const PaperTensor& a, const PaperTensor& b, const Dims& product);
PaperTensor layer_norm(Paper& paper, const PaperTensor& x, PaperParameter& weight, PaperParameter& bias);
PaperTensor batch_norm(Paper& paper, const PaperTensor& x, PaperParameter& weight, PaperParameter& bias);
PaperTensor embedding(Paper& paper, const PaperTensor& ids, PaperParameter& weight);
enum class Keeps : std::uint8_t { nothing, input, result };
// A function of each element in the type of its input: relu, tanh, sigmoid (keep the result), gelu (the input), dropout
// and a product with a number (nothing).
PaperTensor each_element(Paper& paper, const PaperTensor& x, Keeps keeps);
PaperTensor relu_in_place(Paper& paper, const PaperTensor& x);
PaperTensor softmax(Paper& paper, const PaperTensor& x);
PaperTensor add(Paper& paper, const PaperTensor& a, const PaperTensor& b);
PaperTensor mean_pool(Paper& paper, const PaperTensor& x, const Dims& sizes);
// The same elements seen as other sizes.
PaperTensor view(Paper& paper, const PaperTensor& x, const Dims& sizes);
// The same elements in another order, copied: a transposed view that must become a matrix.
PaperTensor rearranged(Paper& paper, const PaperTensor& x, const Dims& sizes);
// Losses: one number.
PaperTensor cross_entropy(Paper& paper, const PaperTensor& scores, const PaperTensor& target);
// mse_loss and binary_cross_entropy_with_logits.
PaperTensor element_loss(Paper& paper, const PaperTensor& x, const PaperTensor& target);

}  // namespace labrig::plan::paper
