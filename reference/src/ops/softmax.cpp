// softmax and log_softmax along any dimension. For the way back only the result is kept.
#include "ops/softmax.hpp"

#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

struct Form {
  Kernel forward, backward;
  const char* name;
  const char* node;
};
constexpr Form kSoftmax{Kernel::softmax, Kernel::softmax_backward, "softmax", "SoftmaxBackward0"};
constexpr Form kLogSoftmax{Kernel::log_softmax, Kernel::log_softmax_backward, "log_softmax", "LogSoftmaxBackward0"};

void check_type(const Form& form, const Tensor& x, int d) {
  if (is_floating_point(x.dtype())) return;
  // PyTorch names the kernel that it does not have.
  const bool last = d == x.dim() - 1;
  const std::string kernel = !x.device().is_cpu() ? "host_softmax"
                             : last               ? std::string(form.name) + "_lastdim_kernel_impl"
                                                  : "softmax_kernel_impl";
  throw Error("dtype-mismatch", "\"" + kernel + "\" not implemented for '" + torch_type_name(x.dtype()) + "'",
              "probabilities are not whole numbers", "convert the tensor to f32 first");
}

// One of the kernels on tensors of one shape; a tensor without dimensions is a row of one element.
Tensor run_along(Kernel kernel, const Tensor& a, const Tensor& b, int d) {
  const NoGradGuard views_are_no_steps;
  Tensor out = make_tensor(a.sizes(), {a.dtype(), a.device()}, name_of(kernel));
  const auto rows = [](const Tensor& x) { return x.defined() && x.dim() == 0 ? x.unsqueeze(0) : x; };
  const Tensor out_rows = rows(out), a_rows = rows(a), b_rows = rows(b);
  if (b.defined())
    run(kernel, {&out_rows, &a_rows, &b_rows}, {static_cast<std::uint64_t>(d)});
  else
    run(kernel, {&out_rows, &a_rows}, {static_cast<std::uint64_t>(d)});
  return out;
}

Tensor along(const Form& form, const Tensor& x, int dim) {
  const int d = wrap_dim(dim, impl_of(x).layout.dim());
  check_type(form, x, d);
  Tensor out = run_along(form.forward, x, {}, d);
  graph::record(form.node, out, {&x}, [&](graph::Saver& save) {
    return [y = save(out), d, kernel = form.backward](const Tensor& gradient, graph::Gradients& to) {
      to.give(0, run_along(kernel, gradient, y.get(), d));
    };
  });
  return out;
}

}  // namespace

Tensor softmax(const Tensor& x_in, int dim) {
  const auto [x] = autocast("softmax", x_in);
  return along(kSoftmax, x, dim);
}
Tensor log_softmax(const Tensor& x_in, int dim) {
  const auto [x] = autocast("log_softmax", x_in);
  return along(kLogSoftmax, x, dim);
}
Tensor log_softmax_in_own_type(const Tensor& x, int dim) { return along(kLogSoftmax, x, dim); }

}  // namespace labrig
