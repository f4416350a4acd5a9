// Task 3 without a card and without 16 bits: the job in one type on the host. For the judge, which compares with f32
// (learning) and f64 (clipping).
#pragma once

#include <vector>

#include "interface.hpp"
#include "labrig/autograd.hpp"

namespace amp_lab {

inline std::vector<labrig::Tensor> parameters_of(const Network& n) {
  return {n.input, n.bias, n.again, n.head, n.head_bias};
}
inline Network network_of(const std::vector<labrig::Tensor>& p) { return {p[0], p[1], p[2], p[3], p[4]}; }

inline labrig::Tensor loss_on_host(const Network& n, const labrig::Tensor& x, const Job& job) {
  using namespace labrig;
  Tensor h = tanh(linear(x[0], n.input, n.bias));
  for (std::int64_t t = 1; t < x.size(0); ++t) h = tanh(linear(x[t], n.input, n.bias) + linear(h, n.again));
  return mul(cross_entropy(linear(h, n.head, n.head_bias), job.target), job.loss_weight);
}

inline Trained train_on_host(const Job& job, labrig::Dtype dtype) {
  using namespace labrig;
  std::vector<Tensor> parameters;
  for (const Tensor& start : parameters_of(job.start)) parameters.push_back(start.to(dtype, true).requires_grad_());
  optim::SGD optimizer(parameters, {.lr = job.lr});
  const Tensor x = job.x.to(dtype);
  std::vector<Tensor> losses;
  for (std::int64_t step = 0; step < job.steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = loss_on_host(network_of(parameters), x, job);
    losses.push_back(loss.detach());
    loss.backward();
    if (job.max_norm > 0) {
      const NoGradGuard no_grad;
      std::vector<Tensor> norms;
      for (const Tensor& parameter : parameters) norms.push_back(norm(parameter.grad()));
      const double total = norm(stack(norms)).item();
      for (const Tensor& parameter : parameters)
        if (total > job.max_norm) mul_(parameter.grad(), job.max_norm / total);
    }
    optimizer.step();
  }
  for (Tensor& parameter : parameters) parameter = parameter.detach();
  return {stack(losses), network_of(parameters)};
}

}  // namespace amp_lab
