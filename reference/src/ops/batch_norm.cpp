// batch_norm: every channel (dimension 1) by itself, over all other dimensions. In training by the statistics of the
// batch, which also move the running ones in place; in evaluation by the running ones.
#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "ops/autocast.hpp"
#include "ops/normalization.hpp"
#include "ops/operands.hpp"

namespace labrig {
namespace {

// The input as the kernels see it: [n, c, s].
struct Volume {
  std::int64_t n, channels, s;

  explicit Volume(const Tensor& x) : n(x.size(0)), channels(x.size(1)), s(1) {
    for (int d = 2; d < x.dim(); ++d) s *= x.size(d);
  }
  Tensor of(const Tensor& x) const { return x.reshape({n, channels, s}); }
};

void check_parameter(const char* role, const Tensor& x, const Volume& volume, const Tensor& parameter) {
  if (!parameter.defined()) return;
  if (parameter.numel() != volume.channels || parameter.dim() != 1) {
    throw Error("shape-mismatch",
                std::string(role) + " should contain " + std::to_string(volume.channels) + " elements not " +
                    std::to_string(parameter.numel()),
                "the input of shape " + x.sizes().str() + " has that many channels, in dimension 1",
                "make the layer for the number of channels of its input");
  }
  const Dtype dtype = parameter.dtype();
  if (dtype != x.dtype() && dtype != statistics_type(x.dtype())) {
    throw wrong_parameter_type(statistics_type(x.dtype()), role, parameter);
  }
}

void check_batch(const Tensor& x, const Volume& volume) {
  if (volume.n * volume.s != 1) return;
  std::string sizes = x.sizes().str();
  throw Error("shape-mismatch",
              "Expected more than 1 value per channel when training, got input size torch.Size(" + sizes + ")",
              "the deviation of a single value is 0, and dividing by it says nothing",
              "use a larger batch, drop the last one when it is smaller, or call eval()");
}

void check_running(const Tensor& running, const char* name, bool training) {
  if (training || running.defined()) return;
  throw Error("undefined-tensor", std::string(name) + " must be defined in evaluation mode",
              "in evaluation the statistics come from training and not from the batch",
              "pass the running statistics, or training = true");
}

struct Inputs {
  Tensor x, weight, bias, running_mean, running_var;
};

void check(const Inputs& in, const Volume& volume, bool training) {
  check_running(in.running_mean, "running_mean", training);
  check_running(in.running_var, "running_var", training);
  check_parameter("running_mean", in.x, volume, in.running_mean);
  check_parameter("running_var", in.x, volume, in.running_var);
  check_parameter("weight", in.x, volume, in.weight);
  check_parameter("bias", in.x, volume, in.bias);
  if (training) check_batch(in.x, volume);
}

// What the forward leaves for the way back.
struct Saved {
  graph::SavedTensor x, weight, mean, deviation;  // deviation: 1 / sqrt(variance + eps), or the running variance
  Dtype weight_dtype, bias_dtype;
  bool training;
  double eps;
};

void give_gradients(const Saved& saved, const Tensor& gradient, graph::Gradients& to) {
  const Tensor x = saved.x.get(), weight = saved.weight.get(), mean = saved.mean.get(),
               deviation = saved.deviation.get();
  const Volume volume(x);
  const auto like_channels = [&](Dtype dtype) {
    return make_tensor({volume.channels}, {dtype, x.device()}, "batch_norm_backward");
  };
  const Tensor gradients[] = {make_tensor(x.sizes(), {x.dtype(), x.device()}, "batch_norm_backward"),
                              like_channels(saved.weight_dtype), like_channels(saved.bias_dtype)};
  const Tensor dx = volume.of(gradients[0]), dy = volume.of(gradient), values = volume.of(x);
  run(Kernel::batch_norm_backward, {&dx, &gradients[1], &gradients[2], &dy, &values, &weight, &mean, &deviation},
      {saved.training ? 1u : 0u, scalar_bits(saved.eps)});
  for (int i = 0; i < 3; ++i) {
    if (x.numel() == 0) gradients[i].zero_();  // no kernel has run
    if (to.wanted(i)) to.give(i, gradients[i]);
  }
}

// The output; `mean` and `deviation` become what it was normalised by.
Tensor forward(const Inputs& in, const Volume& volume, bool training, double momentum, double eps, Tensor& mean,
               Tensor& deviation) {
  const NoGradGuard views_are_no_steps;
  const Device device = in.x.device();
  Tensor out = make_tensor(in.x.sizes(), {in.x.dtype(), device}, "batch_norm");
  const Tensor to = volume.of(out), x = volume.of(in.x);
  mean = in.running_mean;
  deviation = in.running_var;
  if (!training) {
    run(Kernel::batch_norm_eval, {&to, &x, &mean, &deviation, &in.weight, &in.bias}, {scalar_bits(eps)});
    return out;
  }
  mean = make_tensor({volume.channels}, {statistics_type(x.dtype()), device}, "mean");
  deviation = make_tensor({volume.channels}, {statistics_type(x.dtype()), device}, "rstd");
  run(Kernel::batch_norm, {&to, &mean, &deviation, &in.running_mean, &in.running_var, &x, &in.weight, &in.bias},
      {scalar_bits(eps), scalar_bits(momentum)});
  for (const Tensor* running : {&in.running_mean, &in.running_var}) {
    if (running->defined()) graph::changed_in_place(*running);
  }
  return out;
}

}  // namespace

Tensor batch_norm(const Tensor& x_in, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight_in,
                  const Tensor& bias_in, bool training, double momentum, double eps) {
  const auto [x, weight, bias] = autocast("batch_norm", x_in, weight_in, bias_in);
  strict_device("batch_norm", "wrapper_CUDA__native_batch_norm",
                {{"input", &x},
                 {"weight", &weight, true},
                 {"bias", &bias, true},
                 {"running_mean", &running_mean, true},
                 {"running_var", &running_var, true}});
  check_normalized_type("batch_norm", x);
  const Volume volume(x);
  const Inputs inputs{x, weight, bias, running_mean, running_var};
  check(inputs, volume, training);
  Tensor mean, deviation;
  Tensor out = forward(inputs, volume, training, momentum, eps, mean, deviation);
  graph::record("NativeBatchNormBackward0", out, {&x, &weight, &bias}, [&](graph::Saver& save) {
    const auto type_of = [&](const Tensor& parameter) { return parameter.defined() ? parameter.dtype() : x.dtype(); };
    return [saved = Saved{save(x), save.if_wanted(0, weight), save(mean), save(deviation), type_of(weight),
                          type_of(bias), training, eps}](const Tensor& gradient, graph::Gradients& to) {
      give_gradients(saved, gradient, to);
    };
  });
  return out;
}

}  // namespace labrig
