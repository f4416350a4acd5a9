// The losses over classes: nll_loss of log probabilities, and cross_entropy, which is log_softmax and nll_loss. What is
// kept for the way back is the result of log_softmax, and the targets.
#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "ops/plain/kernels.hpp"
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

// PyTorch's order: the number of rows, then devices, then the rest. All of it holds before anything is computed.
void check_class_loss(const Tensor& input, const Tensor& target, const Tensor& weight) {
  strict_device("nll_loss", "wrapper_CUDA_nll_loss_forward",
                {{"self", &input}, {"target", &target}, {"weight", &weight, true}});
  check_shapes(input, target);
  check_weight(input, weight);
  if (!is_floating_point(input.dtype())) {
    throw Error("dtype-mismatch",
                std::string("\"nll_loss_out_frame\" not implemented for '") + torch_type_name(input.dtype()) + "'",
                "log probabilities are not whole numbers", "convert the scores to f32 first");
  }
  if (target.dtype() != kI64) throw wrong_type(kI64, "target", target, "a target is the number of a class");
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

Tensor loss_of(const Tensor& log_p, const Tensor& target, const Tensor& weight, Reduction reduction,
               std::int64_t ignore_index) {
  const Extents extents(log_p.sizes());
  const bool each = reduction == Reduction::none;
  const auto form = static_cast<std::uint64_t>(reduction), ignored = static_cast<std::uint64_t>(ignore_index);
  const Options like{log_p.dtype(), log_p.device()};
  Tensor out = make_tensor(each ? target.sizes() : Dims{}, like, "nll_loss");
  const Tensor total = make_tensor({}, like, "total weight");
  try {
    const NoGradGuard views_are_no_steps;
    const Tensor out_view = out.view(each ? extents.targets() : Dims{});
    const Tensor values = log_p.reshape(extents.values()), targets = target.reshape(extents.targets());
    run(Kernel::nll_loss, {&out_view, &total, &values, &targets, &weight}, {form, ignored});
  } catch (const kernels::BadIndex& bad) {
    throw out_of_bounds(bad);
  }
  const char* node = log_p.dim() == 4 ? "NllLoss2DBackward0" : "NllLossBackward0";
  graph::record(node, out, {&log_p}, [&](graph::Saver& save) {
    return [sizes = log_p.sizes(), extents, form, ignored, like, target = save(target), weight = save(weight),
            total = save(total)](const Tensor& gradient, graph::Gradients& to) {
      Tensor dlog_p = make_tensor(sizes, like, "nll_loss_backward");
      const Tensor values = dlog_p.view(extents.values()), targets = target.get().reshape(extents.targets());
      const Tensor dy = gradient.reshape(form != 0 ? Dims{} : extents.targets());
      const Tensor weights = weight.get(), total_weight = total.get();
      run(Kernel::nll_loss_backward, {&values, &dy, &targets, &weights, &total_weight}, {form, ignored});
      to.give(0, dlog_p);
    };
  });
  return out;
}

}  // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight_in, Reduction reduction,
                std::int64_t ignore_index) {
  const auto [log_p, weight] = autocast("nll_loss", log_probabilities, weight_in);
  check_class_loss(log_p, target, weight);
  return loss_of(log_p, target, weight, reduction, ignore_index);
}

Tensor cross_entropy(const Tensor& scores, const Tensor& target, const Tensor& weight_in, Reduction reduction,
                     std::int64_t ignore_index) {
  const auto [input, weight] = autocast("cross_entropy", scores, weight_in);
  check_class_loss(input, target, weight);
  return loss_of(log_softmax(input, input.dim() == 1 ? 0 : 1), target, weight, reduction, ignore_index);
}

}  // namespace labrig
