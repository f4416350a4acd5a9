// The losses over classes: nll_loss of log probabilities, and cross_entropy, which is log_softmax and nll_loss. What is
// kept for the way back is the result of log_softmax, and the targets.
#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/softmax.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

Error mismatch(std::string what, const Tensor& input, const Tensor& target) {
  return Error("shape-mismatch", std::move(what),
               "scores of shape " + input.sizes().str() + " and targets of shape " + target.sizes().str() +
                   ": there is one class number for every row of scores, and the classes are dimension 1",
               "targets have the shape of the scores without dimension 1");
}

// With PyTorch's texts, which differ with the number of dimensions.
void check_shapes(const Tensor& input, const Tensor& target) {
  const int dims = input.dim();
  if (dims == 0) throw mismatch("Expected 1 or more dimensions (got 0)", input, target);
  if (dims <= 2 && target.dim() > 1) {
    throw mismatch("0D or 1D target tensor expected, multi-target not supported", input, target);
  }
  if (dims == 1) {
    if (target.numel() == 1) return;
    throw mismatch("size mismatch (got input: " + input.sizes().str() + ", target: " + target.sizes().str() + ")",
                   input, target);
  }
  if (input.size(0) != target.size(0)) {
    throw mismatch("Expected input batch_size (" + std::to_string(input.size(0)) + ") to match target batch_size (" +
                       std::to_string(target.size(0)) + ").",
                   input, target);
  }
  if (dims == 4 && target.dim() != 3) {
    throw mismatch("only batches of spatial targets supported (3D tensors) but got targets of dimension: " +
                       std::to_string(target.dim()),
                   input, target);
  }
  Dims expected{input.size(0)};
  for (int d = 2; d < dims; ++d) expected.push_back(input.size(d));
  if (target.sizes() == expected) return;
  throw mismatch(dims == 4 ? "size mismatch (got input: " + input.sizes().str() + " , target: " + target.sizes().str()
                           : "Expected target size " + expected.str() + ", got " + target.sizes().str(),
                 input, target);
}

Error wrong_type(Dtype expected, const char* role, const Tensor& tensor, const char* why) {
  return Error("dtype-mismatch",
               std::string("expected scalar type ") + torch_type_name(expected) + " but found " +
                   torch_type_name(tensor.dtype()),
               std::string(role) + " has type " + name_of(tensor.dtype()) + ": " + why,
               std::string("convert it once with .to(") + name_of(expected) + ")");
}

void check_weight(const Tensor& input, const Tensor& weight) {
  if (!weight.defined()) return;
  const std::int64_t classes = input.size(input.dim() == 1 ? 0 : 1);
  if (weight.dim() != 1 || weight.numel() != classes) {
    throw Error("shape-mismatch",
                "weight tensor should be defined either for all " + std::to_string(classes) +
                    " classes or no classes but got weight tensor of shape: " + weight.sizes().str(),
                "the scores have shape " + input.sizes().str(), "give one weight for each class");
  }
  if (weight.dtype() != input.dtype()) {
    throw wrong_type(input.dtype(), "weight", weight, "it multiplies the scores and has their type");
  }
  if (grad_enabled() && weight.requires_grad()) {
    throw Error("no-gradient", "the derivative for 'weight' is not implemented",
                "the weights of classes are settings and not learnt", "detach() the weights");
  }
}

// Where the operands are and how they fit together.
void check_places(const Tensor& input, const Tensor& target, const Tensor& weight) {
  strict_device("nll_loss", "wrapper_CUDA_nll_loss_forward",
                {{"self", &input}, {"target", &target}, {"weight", &weight, true}});
  check_shapes(input, target);
}

void check_target(const Tensor& target) {
  if (target.dtype() != kI64) throw wrong_type(kI64, "target", target, "a target is the number of a class");
}

// PyTorch takes a target of the scores' shape for probabilities of classes.
void check_no_probabilities(const Tensor& input, const Tensor& target) {
  if (input.sizes() != target.sizes()) return;
  const bool numbers = !is_floating_point(target.dtype());
  throw Error(
      "dtype-mismatch",
      numbers ? std::string("Expected floating point type for target with class probabilities, got ") +
                    torch_type_name(target.dtype())
              : "cross_entropy takes the numbers of classes, not their probabilities",
      "the target has the shape of the scores, " + input.sizes().str() + ": one number for every class of every row",
      numbers ? "give each row the number of its class, in a tensor without dimension 1"
              : "give each row the number of its class, or write the sum over -p * log_softmax(scores) yourself");
}

// The three dimensions that the kernel knows.
struct Extents {
  std::int64_t n, classes, s;

  explicit Extents(const Dims& sizes) : n(1), classes(sizes[0]), s(1) {
    if (sizes.count() == 1) return;
    n = sizes[0];
    classes = sizes[1];
    for (int d = 2; d < sizes.count(); ++d) s *= sizes[d];
  }
  Dims values() const { return {n, classes, s}; }
  Dims targets() const { return {n, s}; }
};

// On the host a class that is not there is found at once.
Error out_of_bounds(const kernels::BadIndex& bad) {
  return Error("index-out-of-range", "Target " + std::to_string(bad.value) + " is out of bounds.",
               "it is target number " + std::to_string(bad.position) + ", and there are " + std::to_string(bad.size) +
                   " classes: 0 to " + std::to_string(bad.size - 1),
               "check what made the targets, and that the last layer has an output for every class");
}

// The scalars of both kernels.
struct Form {
  std::uint64_t reduction, ignored;

  bool is_each() const { return reduction == static_cast<std::uint64_t>(Reduction::none); }
};

// The loss; `total` becomes the sum of the weights, by which a mean is divided.
Tensor forward(const Tensor& log_p, const Tensor& target, const Tensor& weight, Form form, const Tensor& total) {
  const NoGradGuard views_are_no_steps;
  const Extents extents(log_p.sizes());
  Tensor out = make_tensor(form.is_each() ? target.sizes() : Dims{}, {log_p.dtype(), log_p.device()}, "nll_loss");
  const Tensor losses = form.is_each() ? out.view(extents.targets()) : out;
  const Tensor values = log_p.reshape(extents.values()), targets = target.reshape(extents.targets());
  try {
    run(Kernel::nll_loss, {&losses, &total, &values, &targets, &weight}, {form.reduction, form.ignored});
  } catch (const kernels::BadIndex& bad) {
    throw out_of_bounds(bad);
  }
  return out;
}

Tensor backward(const Tensor& gradient, const Dims& sizes, const Tensor& target, const Tensor& weight, Form form,
                const Tensor& total) {
  const Extents extents(sizes);
  Tensor dlog_p = make_tensor(sizes, {total.dtype(), total.device()}, "nll_loss_backward");
  const Tensor values = dlog_p.view(extents.values()), targets = target.reshape(extents.targets());
  const Tensor dy = form.is_each() ? gradient.reshape(extents.targets()) : gradient;
  run(Kernel::nll_loss_backward, {&values, &dy, &targets, &weight, &total}, {form.reduction, form.ignored});
  return dlog_p;
}

Tensor loss_of(const Tensor& log_p, const Tensor& target, const Tensor& weight, Form form) {
  const Tensor total = make_tensor({}, {log_p.dtype(), log_p.device()}, "total weight");
  Tensor out = forward(log_p, target, weight, form, total);
  const char* node = log_p.dim() == 4 ? "NllLoss2DBackward0" : "NllLossBackward0";
  graph::record(node, out, {&log_p}, [&](graph::Saver& save) {
    return [sizes = log_p.sizes(), form, target = save(target), weight = save(weight), total = save(total)](
               const Tensor& gradient, graph::Gradients& to) {
      to.give(0, backward(gradient, sizes, target.get(), weight.get(), form, total.get()));
    };
  });
  return out;
}

}  // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight_in, Reduction reduction,
                std::int64_t ignore_index) {
  const auto [log_p, weight] = autocast("nll_loss", log_probabilities, weight_in);
  check_places(log_p, target, weight);
  check_weight(log_p, weight);
  if (!is_floating_point(log_p.dtype())) {
    throw Error("dtype-mismatch",
                std::string("\"nll_loss_out_frame\" not implemented for '") + torch_type_name(log_p.dtype()) + "'",
                "log probabilities are not whole numbers", "convert the scores to f32 first");
  }
  check_target(target);
  return loss_of(log_p, target, weight,
                 {static_cast<std::uint64_t>(reduction), static_cast<std::uint64_t>(ignore_index)});
}

// Within an autocast region this is, as in PyTorch, log_softmax in the type of the scores and the loss in f32.
Tensor cross_entropy(const Tensor& scores, const Tensor& target, const Tensor& weight, Reduction reduction,
                     std::int64_t ignore_index) {
  require("cross_entropy", {"input", &scores});
  require("cross_entropy", {"target", &target});
  check_no_probabilities(scores, target);
  check_places(scores, target, weight);
  check_target(target);
  const Tensor log_p = log_softmax_in_own_type(scores, scores.dim() == 1 ? 0 : 1);
  return nll_loss(log_p, target, weight, reduction, ignore_index);
}

}  // namespace labrig
