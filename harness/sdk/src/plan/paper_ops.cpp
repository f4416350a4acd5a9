// The operators on paper, and what they keep:
//
//   linear, conv2d    its input (for the weight's gradient) and its weight (for the input's)     no result
//   bmm               both operands
//   layer_norm        its input, two f32 a row          batch_norm   its input, two f32 a channel
//   relu tanh sigmoid softmax   the result              gelu         its input
//   embedding         the ids                           add, mul by a number, dropout, mean, views   nothing
//   cross_entropy     log probabilities                 mse, bce     input and target
//
// A layer's result costs memory once, however many keep it: relu's result is also the next linear's input. In an
// autocast region linear, conv2d and bmm compute in 16 bits, and keep 16-bit copies of what reached them in f32; the
// softmax, layer_norm and losses compute in f32, and keep f32 copies of what reached them in 16 bits.
#include "plan/paper_ops.hpp"

namespace labrig::plan::paper {
namespace {

const PaperTensor kNone;

// dx = dy W, dW = dy^T x, dbias = the sum of dy: all three are there before any is passed on.
PaperGradients product_gradients(Paper& paper, const PaperTensor& x, bool x_wanted, const Dims& weight,
                                 const Dims& bias, bool has_bias) {
  PaperGradients gradients(3);
  if (x_wanted) gradients[0] = paper.make(x.sizes, x.dtype, "gradient");
  gradients[1] = paper.make(weight, x.dtype, "gradient");
  if (has_bias) gradients[2] = paper.make(bias, x.dtype, "gradient");
  return gradients;
}

// Of linear and conv2d, which differ in sizes alone. `rows`: the way back needs its gradient as a matrix.
PaperTensor product(Paper& paper, const PaperTensor& x_in, PaperParameter& weight, PaperParameter* bias,
                    const Dims& sizes, bool rows) {
  const Dtype dtype = paper.product_type(x_in.dtype);
  // From the last operand to the first, as autocast casts.
  const PaperTensor b = bias != nullptr ? paper.weight(*bias, dtype) : kNone;
  const PaperTensor w = paper.weight(weight, dtype);
  const PaperTensor x = paper.cast(x_in, dtype, "input");
  PaperTensor out = paper.make(sizes, dtype, "output");
  const bool x_wanted = x.node != nullptr;
  paper.record(out, {&x, &w, &b},
               [&paper, rows, x_wanted, x = Paper::keep(x), w = x_wanted ? Paper::keep(w) : kNone,
                weight_sizes = w.sizes, bias_sizes = b.sizes, has_bias = b.defined()](const PaperTensor& gradient) {
                 const PaperTensor dy = rows ? paper.dense(gradient) : gradient;
                 return product_gradients(paper, x, x_wanted, weight_sizes, bias_sizes, has_bias);
               });
  return out;
}

}  // namespace

PaperTensor linear(Paper& paper, const PaperTensor& x, PaperParameter& weight, PaperParameter* bias) {
  Dims sizes = x.sizes;
  sizes[sizes.count() - 1] = weight.value.sizes[0];
  return product(paper, x, weight, bias, sizes, true);
}

PaperTensor conv2d(Paper& paper, const PaperTensor& x, PaperParameter& weight, PaperParameter* bias, const Dims& map) {
  return product(paper, x, weight, bias, map, false);
}

PaperTensor bmm(Paper& paper, const PaperTensor& a_in, const PaperTensor& b_in, const Dims& sizes) {
  const Dtype dtype = paper.product_type(a_in.dtype);
  const PaperTensor b = paper.cast(b_in, dtype, "operand"), a = paper.cast(a_in, dtype, "operand");
  PaperTensor out = paper.make(sizes, dtype, "product");
  paper.record(out, {&a, &b}, [&paper, a = Paper::keep(a), b = Paper::keep(b)](const PaperTensor&) -> PaperGradients {
    return {paper.make(a.sizes, a.dtype, "gradient"), paper.make(b.sizes, b.dtype, "gradient")};
  });
  return out;
}

PaperTensor layer_norm(Paper& paper, const PaperTensor& x_in, PaperParameter& weight, PaperParameter& bias) {
  const PaperTensor x = paper.cast(x_in, paper.wide_type(x_in.dtype), "input");
  const PaperTensor b = paper.weight(bias, x.dtype), w = paper.weight(weight, x.dtype);
  PaperTensor out = paper.make(x.sizes, x.dtype, "output");
  const Dims rows{x.sizes.product() / x.sizes[x.sizes.count() - 1]};
  const PaperTensor mean = paper.make(rows, kF32, "mean"), deviation = paper.make(rows, kF32, "deviation");
  paper.record(out, {&x, &w, &b},
               [&paper, x = Paper::keep(x), w = Paper::keep(w), mean = Paper::keep(mean),
                deviation = Paper::keep(deviation)](const PaperTensor& gradient) -> PaperGradients {
                 const PaperTensor dy = paper.dense(gradient);
                 return {paper.make(x.sizes, x.dtype, "gradient"), paper.make(w.sizes, x.dtype, "gradient"),
                         paper.make(w.sizes, x.dtype, "gradient")};
               });
  return out;
}

PaperTensor batch_norm(Paper& paper, const PaperTensor& x, PaperParameter& weight, PaperParameter& bias) {
  const PaperTensor b = paper.weight(bias, kF32), w = paper.weight(weight, kF32);
  PaperTensor out = paper.make(x.sizes, x.dtype, "output");
  const PaperTensor mean = paper.make(w.sizes, kF32, "mean"), deviation = paper.make(w.sizes, kF32, "deviation");
  paper.record(out, {&x, &w, &b},
               [&paper, x = Paper::keep(x), w = Paper::keep(w), mean = Paper::keep(mean),
                deviation = Paper::keep(deviation)](const PaperTensor& gradient) -> PaperGradients {
                 const PaperTensor dx = paper.make(x.sizes, x.dtype, "gradient"), dy = paper.dense(gradient);
                 return {dx, paper.make(w.sizes, kF32, "gradient"), paper.make(w.sizes, kF32, "gradient")};
               });
  return out;
}

// The gradient is as large as the table, however few rows were looked up.
PaperTensor embedding(Paper& paper, const PaperTensor& ids, PaperParameter& weight) {
  const PaperTensor w = paper.weight(weight, kF32);
  Dims sizes = ids.sizes;
  sizes.push_back(w.sizes[1]);
  PaperTensor out = paper.make(sizes, kF32, "output");
  paper.record(out, {&w}, [&paper, sizes = w.sizes, ids = Paper::keep(ids)](const PaperTensor&) -> PaperGradients {
    return {paper.make(sizes, kF32, "gradient")};
  });
  return out;
}

PaperTensor each_element(Paper& paper, const PaperTensor& x, Keeps keeps) {
  PaperTensor out = paper.make(x.sizes, x.dtype, "output");
  const PaperTensor& what = keeps == Keeps::input ? x : out;
  paper.record(out, {&x},
               [&paper, sizes = x.sizes, dtype = x.dtype,
                kept = keeps == Keeps::nothing || x.node == nullptr ? kNone : Paper::keep(what)](
                   const PaperTensor&) -> PaperGradients { return {paper.make(sizes, dtype, "gradient")}; });
  return out;
}

PaperTensor relu_in_place(Paper& paper, const PaperTensor& x) {
  PaperTensor out = x.detached();
  paper.record(out, {&x}, [&paper, kept = Paper::keep(x)](const PaperTensor&) -> PaperGradients {
    return {paper.make(kept.sizes, kept.dtype, "gradient")};
  });
  return out;
}

PaperTensor softmax(Paper& paper, const PaperTensor& x_in) {
  const PaperTensor x = paper.cast(x_in, paper.wide_type(x_in.dtype), "input");
  return each_element(paper, x, Keeps::result);
}

PaperTensor add(Paper& paper, const PaperTensor& a, const PaperTensor& b) {
  PaperTensor out = paper.make(a.sizes, promote_types(a.dtype, b.dtype), "sum");
  paper.record(out, {&a, &b}, [&paper, a = a.dtype, b = b.dtype](const PaperTensor& gradient) -> PaperGradients {
    return {paper.cast(gradient, a, "gradient"), paper.cast(gradient, b, "gradient")};
  });
  return out;
}

// The gradient is one row for all positions.
PaperTensor mean_pool(Paper& paper, const PaperTensor& x, const Dims& sizes) {
  PaperTensor out = paper.make(sizes, x.dtype, "output");
  paper.record(out, {&x}, [&paper, before = x.sizes](const PaperTensor& gradient) -> PaperGradients {
    PaperTensor repeated = paper.make(gradient.sizes, gradient.dtype, "gradient").seen_as(before);
    repeated.dense = false;
    return {repeated};
  });
  return out;
}

PaperTensor view(Paper& paper, const PaperTensor& x, const Dims& sizes) {
  PaperTensor out = x.seen_as(sizes);
  paper.record(out, {&x}, [&paper, before = x.sizes](const PaperTensor& gradient) -> PaperGradients {
    return {paper.dense(gradient).seen_as(before)};
  });
  return out;
}

PaperTensor rearranged(Paper& paper, const PaperTensor& x, const Dims& sizes) {
  PaperTensor out = paper.make(sizes, x.dtype, "copy in another order");
  paper.record(out, {&x}, [&paper, before = x.sizes, dtype = x.dtype](const PaperTensor&) -> PaperGradients {
    return {paper.make(before, dtype, "gradient")};
  });
  return out;
}

// log_softmax in the type of the scores, then the loss in f32.
PaperTensor cross_entropy(Paper& paper, const PaperTensor& scores, const PaperTensor& target) {
  const PaperTensor log_p = each_element(paper, scores, Keeps::result);
  const PaperTensor wide = paper.cast(log_p, paper.wide_type(log_p.dtype), "log probabilities");
  const PaperTensor total = paper.make({}, wide.dtype, "total weight");
  PaperTensor out = paper.make({}, wide.dtype, "loss");
  paper.record(
      out, {&wide},
      [&paper, sizes = wide.sizes, dtype = wide.dtype, target = Paper::keep(target), total = Paper::keep(total)](
          const PaperTensor&) -> PaperGradients { return {paper.make(sizes, dtype, "gradient")}; });
  return out;
}

PaperTensor element_loss(Paper& paper, const PaperTensor& x_in, const PaperTensor& target) {
  const PaperTensor x = paper.cast(x_in, paper.wide_type(x_in.dtype), "input");
  const PaperTensor each = paper.make(x.sizes, x.dtype, "loss of each element");
  PaperTensor out = paper.make({}, x.dtype, "loss");
  paper.record(out, {&x},
               [&paper, x = Paper::keep(x), target = Paper::keep(target)](const PaperTensor&) -> PaperGradients {
                 return {paper.make(x.sizes, x.dtype, "gradient")};
               });
  return out;
}

}  // namespace labrig::plan::paper
