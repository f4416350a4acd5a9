// From a kernel's number to its code, and what happens when an input overlaps the output.
#include <cstring>
#include <vector>

#include "ops/elementwise_kernels.hpp"
#include "ops/plain/kernels.hpp"

namespace labrig::kernels {
namespace {

// One past the last byte that the operand touches, from its first; 0 when it has no elements.
std::size_t span_bytes(const Operand& operand) {
  std::int64_t last = 0;
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.sizes[d] == 0) return 0;
    last += (operand.sizes[d] - 1) * operand.strides[d];
  }
  return (static_cast<std::size_t>(last) + 1) * element_bytes(operand.dtype);
}

bool overlap(const Operand& a, const Operand& b) {
  const auto* first = static_cast<const std::byte*>(a.data);
  const auto* second = static_cast<const std::byte*>(b.data);
  return first < second + span_bytes(b) && second < first + span_bytes(a);
}

// In place: every element of the input lies under the element of the output that it is for.
bool in_place(const Operand& input, const Operand& out) {
  return input.data == out.data && input.dtype == out.dtype && input.sizes == out.sizes && input.strides == out.strides;
}

void dispatch_call(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::fill:
      return fill(call);
    case Kernel::arange:
      return arange(call);
    case Kernel::uniform:
    case Kernel::normal:
    case Kernel::random_integers:
      return random(call);
    case Kernel::copy:
      return copy(call);
    case Kernel::add:
    case Kernel::sub:
    case Kernel::mul:
    case Kernel::div:
      return binary(call);
    case Kernel::add_scalar:
    case Kernel::sub_scalar:
    case Kernel::mul_scalar:
    case Kernel::div_scalar:
      return with_scalar(call);
    case Kernel::eq:
    case Kernel::ne:
    case Kernel::lt:
    case Kernel::le:
    case Kernel::gt:
    case Kernel::ge:
      return compare(call);
    case Kernel::relu:
    case Kernel::neg:
    case Kernel::exp:
    case Kernel::log:
    case Kernel::sqrt:
    case Kernel::tanh:
    case Kernel::sigmoid:
    case Kernel::gelu:
    case Kernel::clamp:
      return unary(call);
    case Kernel::relu_backward:
    case Kernel::sqrt_backward:
    case Kernel::tanh_backward:
    case Kernel::sigmoid_backward:
    case Kernel::gelu_backward:
    case Kernel::clamp_backward:
      return unary_backward(call);
    case Kernel::masked_fill:
      return masked_fill(call);
    case Kernel::where:
      return where(call);
    case Kernel::dropout:
      return dropout(call);
    case Kernel::mse_loss:
    case Kernel::bce_with_logits:
    case Kernel::mse_loss_backward:
    case Kernel::bce_with_logits_backward:
      return loss(call);
    case Kernel::matmul:
      return matmul(call);
    case Kernel::bmm:
      return bmm(call);
    case Kernel::linear:
      return linear(call);
    case Kernel::conv2d:
    case Kernel::conv2d_input_backward:
    case Kernel::conv2d_weight_backward:
      return conv2d(call);
    case Kernel::index:
    case Kernel::index_add:
      return index(call);
    case Kernel::sum:
    case Kernel::mean:
    case Kernel::max:
    case Kernel::norm:
    case Kernel::argmax:
      return reduction(call);
    case Kernel::softmax:
    case Kernel::log_softmax:
    case Kernel::softmax_backward:
    case Kernel::log_softmax_backward:
      return softmax(call);
    case Kernel::layer_norm:
    case Kernel::layer_norm_backward:
    case Kernel::layer_norm_weight_backward:
      return layer_norm(call);
    case Kernel::batch_norm:
    case Kernel::batch_norm_eval:
    case Kernel::batch_norm_backward:
      return batch_norm(call);
    case Kernel::nll_loss:
    case Kernel::nll_loss_backward:
      return nll_loss(call);
    case Kernel::sgd_step:
    case Kernel::adam_step:
    case Kernel::amp_unscale:
    case Kernel::amp_update_scale:
      return step(call);
  }
}

}  // namespace

void run(const KernelCall& call) {
  if (span_bytes(call.operands[0]) == 0) return;
  const int outputs = outputs_of(call.kernel);
  const auto disturbed = [&](const Operand& input) {
    for (int o = 0; o < outputs; ++o) {
      const Operand& out = call.operands[static_cast<std::size_t>(o)];
      if (overlap(input, out) && !(is_elementwise(call.kernel) && in_place(input, out))) return true;
    }
    return false;
  };
  KernelCall apart = call;
  std::vector<std::vector<std::byte>> copies;
  for (int i = outputs; i < call.operand_count; ++i) {
    Operand& input = apart.operands[static_cast<std::size_t>(i)];
    if (!disturbed(input)) continue;
    const auto* from = static_cast<const std::byte*>(input.data);
    copies.emplace_back(from, from + span_bytes(input));
    input.data = copies.back().data();
  }
  dispatch_call(apart);
}

}  // namespace labrig::kernels
