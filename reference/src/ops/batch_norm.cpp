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

// The gradients of x, weight and bias. `deviation`: 1 / sqrt(variance + eps) of the batch, or the running variance.
void batch_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& weight, const Tensor& mean,
                         const Tensor& deviation, bool training, double eps, Dtype parameters, graph::Gradients& to) {
  const Volume volume(x);
  const Tensor dx = make_tensor(x.sizes(), {x.dtype(), x.device()}, "batch_norm_backward");
  const Tensor dweight = make_tensor({volume.channels}, {parameters, x.device()}, "batch_norm_backward"),
               dbias = make_tensor({volume.channels}, {parameters, x.device()}, "batch_norm_backward");
  const Tensor dx_volume = volume.of(dx), dy = volume.of(gradient), values = volume.of(x);
  run(Kernel::batch_norm_backward, {&dx_volume, &dweight, &dbias, &dy, &values, &weight, &mean, &deviation},
      {training ? 1u : 0u, scalar_bits(eps)});
  if (x.numel() == 0) {  // no kernel has run
    dweight.zero_();
    dbias.zero_();
  }
  const Tensor* const all[] = {&dx, &dweight, &dbias};
  for (int i = 0; i < 3; ++i) {
    if (to.wanted(i)) to.give(i, *all[i]);
  }
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
  check({x, weight, bias, running_mean, running_var}, volume, training);

  Tensor out = make_tensor(x.sizes(), {x.dtype(), x.device()}, "batch_norm");
  Tensor mean = running_mean, deviation = running_var;
  {
    const NoGradGuard views_are_no_steps;
    const Tensor out_volume = volume.of(out), values = volume.of(x);
    if (training) {
      const Options statistics{statistics_type(x.dtype()), x.device()};
      mean = make_tensor({volume.channels}, statistics, "mean");
      deviation = make_tensor({volume.channels}, statistics, "rstd");
      run(Kernel::batch_norm, {&out_volume, &mean, &deviation, &running_mean, &running_var, &values, &weight, &bias},
          {scalar_bits(eps), scalar_bits(momentum)});
      for (const Tensor* running : {&running_mean, &running_var}) {
        if (running->defined()) graph::changed_in_place(*running);
      }
    } else {
      run(Kernel::batch_norm_eval, {&out_volume, &values, &mean, &deviation, &weight, &bias}, {scalar_bits(eps)});
    }
  }
  graph::record("NativeBatchNormBackward0", out, {&x, &weight, &bias}, [&](graph::Saver& save) {
    const Dtype parameters = weight.defined() ? weight.dtype() : bias.defined() ? bias.dtype() : x.dtype();
    return [training, eps, parameters, x = save(x), weight = save.if_wanted(0, weight), mean = save(mean),
            deviation = save(deviation)](const Tensor& gradient, graph::Gradients& to) {
      batch_norm_backward(gradient, x.get(), weight.get(), mean.get(), deviation.get(), training, eps, parameters, to);
    };
  });
  return out;
}

}  // namespace labrig
