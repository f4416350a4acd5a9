// The table of all kernels, and the rules that hold for each of them: operands in the order that the table says, inputs
// never lose their kind (float to int and int to bool would), and outputs whose elements do not share memory. In place
// means: an input has the address and the layout of the output.
#include "ops/schema/schema.hpp"

#include <array>
#include <limits>

namespace labrig::schema {
namespace {

// clang-format off
constexpr Schema kSchemas[] = {
    {"fill", "w", elementwise_violation, elementwise_cost},
    {"arange", "w", arange_violation, arange_cost},
    {"uniform", "w", random_violation, random_cost},
    {"normal", "w", random_violation, random_cost},
    {"random_integers", "w", random_violation, random_cost},
    {"copy", "wr", elementwise_violation, elementwise_cost},
    {"add", "wrr", elementwise_violation, elementwise_cost},
    {"sub", "wrr", elementwise_violation, elementwise_cost},
    {"mul", "wrr", elementwise_violation, elementwise_cost},
    {"div", "wrr", elementwise_violation, elementwise_cost},
    {"add_scalar", "wr", elementwise_violation, elementwise_cost},
    {"sub_scalar", "wr", elementwise_violation, elementwise_cost},
    {"mul_scalar", "wr", elementwise_violation, elementwise_cost},
    {"div_scalar", "wr", elementwise_violation, elementwise_cost},
    {"eq", "wrr", elementwise_violation, elementwise_cost},
    {"ne", "wrr", elementwise_violation, elementwise_cost},
    {"lt", "wrr", elementwise_violation, elementwise_cost},
    {"le", "wrr", elementwise_violation, elementwise_cost},
    {"gt", "wrr", elementwise_violation, elementwise_cost},
    {"ge", "wrr", elementwise_violation, elementwise_cost},
    {"relu", "wr", elementwise_violation, elementwise_cost},
    {"neg", "wr", elementwise_violation, elementwise_cost},
    {"exp", "wr", elementwise_violation, elementwise_cost},
    {"log", "wr", elementwise_violation, elementwise_cost},
    {"sqrt", "wr", elementwise_violation, elementwise_cost},
    {"tanh", "wr", elementwise_violation, elementwise_cost},
    {"sigmoid", "wr", elementwise_violation, elementwise_cost},
    {"gelu", "wr", elementwise_violation, elementwise_cost},
    {"clamp", "wr", elementwise_violation, elementwise_cost},
    {"relu_backward", "wrr", elementwise_violation, elementwise_cost},
    {"sqrt_backward", "wrr", elementwise_violation, elementwise_cost},
    {"tanh_backward", "wrr", elementwise_violation, elementwise_cost},
    {"sigmoid_backward", "wrr", elementwise_violation, elementwise_cost},
    {"gelu_backward", "wrr", elementwise_violation, elementwise_cost},
    {"clamp_backward", "wrr", elementwise_violation, elementwise_cost},
    {"masked_fill", "wrr", elementwise_violation, elementwise_cost},
    {"where", "wrrr", elementwise_violation, elementwise_cost},
    {"dropout", "wr", elementwise_violation, elementwise_cost},
    {"mse_loss", "wrr", elementwise_violation, elementwise_cost},
    {"bce_with_logits", "wrr", elementwise_violation, elementwise_cost},
    {"mse_loss_backward", "wrrr", elementwise_violation, elementwise_cost},
    {"bce_with_logits_backward", "wrrr", elementwise_violation, elementwise_cost},
    {"matmul", "wrr", matmul_violation, matmul_cost},
    {"bmm", "wrr", matmul_violation, matmul_cost},
    {"linear", "wrrR", matmul_violation, matmul_cost},
    {"conv2d", "wrrR", conv2d_violation, conv2d_cost},
    {"conv2d_input_backward", "wrr", conv2d_violation, conv2d_cost},
    {"conv2d_weight_backward", "wrr", conv2d_violation, conv2d_cost},
    {"sum", "wr", reduce_violation, reduce_cost},
    {"mean", "wr", reduce_violation, reduce_cost},
    {"max", "wr", reduce_violation, reduce_cost},
    {"norm", "wr", reduce_violation, reduce_cost},
    {"argmax", "wr", reduce_violation, reduce_cost},
    {"softmax", "wr", softmax_violation, softmax_cost},
    {"log_softmax", "wr", softmax_violation, softmax_cost},
    {"softmax_backward", "wrr", softmax_violation, softmax_cost},
    {"log_softmax_backward", "wrr", softmax_violation, softmax_cost},
    {"layer_norm", "wwwrRR", norm_violation, norm_cost},
    {"layer_norm_backward", "wrrRrr", norm_violation, norm_cost},
    {"layer_norm_weight_backward", "wwrrrr", norm_violation, norm_cost},
    {"batch_norm", "wwwXXrRR", norm_violation, norm_cost},
    {"batch_norm_eval", "wrrrRR", norm_violation, norm_cost},
    {"batch_norm_backward", "wwwrrRrr", norm_violation, norm_cost},
    {"nll_loss", "wwrrR", nll_loss_violation, nll_loss_cost},
    {"nll_loss_backward", "wrrRr", nll_loss_violation, nll_loss_cost},
    {"index", "wrrRRR", index_violation, index_cost},
    {"index_add", "xrrRRR", index_violation, index_cost},
    {"sgd_step", "xXr", step_violation, step_cost},
    {"adam_step", "xxxr", step_violation, step_cost},
    {"amp_unscale", "xxr", step_violation, step_cost},
    {"amp_update_scale", "xxr", step_violation, step_cost},
};
// clang-format on
static_assert(std::size(kSchemas) == kKernelCount);

// The most elements that one operand may have (S10); also keeps every product below inside 128 bits.
constexpr Wide kMaxElements = Wide{1} << 34;

// Elements that lie at different addresses: a dimension with stride 0 counts once.
std::uint64_t distinct_elements(const Operand& operand) {
  if (elements(operand.sizes) == 0) return 0;
  std::uint64_t count = 1;
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.strides[d] != 0) count *= static_cast<std::uint64_t>(operand.sizes[d]);
  }
  return count;
}

// True when no two elements share an address, for layouts that arise from views: sorted by stride, each dimension steps
// over everything that the smaller ones span.
bool elements_are_apart(const Operand& operand) {
  std::array<int, kMaxDims> order{};  // dimensions of more than one element, by ascending stride
  std::size_t count = 0;
  for (int d = 0; d < operand.sizes.count(); ++d) {
    if (operand.sizes[d] == 0) return true;
    if (operand.sizes[d] == 1) continue;
    std::size_t at = count++;
    for (; at > 0 && operand.strides[order[at - 1]] > operand.strides[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  Wide span = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const int d = order[i];
    if (operand.strides[d] < span) return false;
    span += Wide{operand.strides[d]} * (operand.sizes[d] - 1);
  }
  return true;
}

std::uint64_t saturated(Wide value) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return value > Wide{most} ? most : static_cast<std::uint64_t>(value);
}

// What holds for each operand by itself.
Violation operand_violation(const Operand& operand, int i, char letter) {
  if (static_cast<int>(operand.dtype) >= kDtypeCount) return position(i) + " has an unknown element type";
  if (operand.access != access_of(letter)) {
    constexpr const char* kRules[] = {"", " must be read", " must be written", " must be read and written"};
    return position(i) + kRules[static_cast<int>(access_of(letter))];
  }
  if (operand.sizes.count() != operand.strides.count()) return position(i) + " has not one stride for each size";
  if (elements(operand.sizes) < 0) return position(i) + " has a size below 0, or more than 2^34 elements";
  for (const std::int64_t stride : operand.strides) {
    if (stride < 0) return position(i) + " has a stride below 0";
  }
  if (operand.access != Access::read && !elements_are_apart(operand)) return "elements of the output share memory";
  return std::nullopt;
}

}  // namespace

Access access_of(char letter) {
  if (letter == 'w' || letter == 'W') return Access::write;
  return letter == 'x' || letter == 'X' ? Access::read_write : Access::read;
}

const Schema& schema_of(Kernel kernel) { return kSchemas[static_cast<std::size_t>(kernel)]; }

Wide elements(const Dims& sizes) {
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return -1;
    empty |= size == 0;
  }
  if (empty) return 0;
  Wide count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
    if (count > kMaxElements) return -1;
  }
  return count;
}

bool broadcasts_to(const Dims& from, const Dims& to) {
  if (from.count() > to.count()) return false;
  const int shift = to.count() - from.count();
  for (int d = 0; d < from.count(); ++d) {
    if (from[d] != 1 && from[d] != to[d + shift]) return false;
  }
  return true;
}

int kind_of(Dtype dtype) { return dtype == Dtype::boolean ? 0 : is_floating_point(dtype) ? 2 : 1; }

std::string position(int i) { return "operand " + std::to_string(i); }

std::string shape(const Dims& dims) {
  std::string text = "[";
  for (int d = 0; d < dims.count(); ++d) text += (d ? ", " : "") + std::to_string(dims[d]);
  return text + "]";
}

Violation inputs_broadcast(const KernelCall& call) {
  for (int i = 1; i < call.operand_count; ++i) {
    const Operand& input = call.operands[static_cast<std::size_t>(i)];
    if (!broadcasts_to(input.sizes, call.operands[0].sizes)) {
      return position(i) + " of shape " + shape(input.sizes) + " does not broadcast to the output's " +
             shape(call.operands[0].sizes);
    }
  }
  return std::nullopt;
}

Violation keeps_kind(const Operand& input, int i, const Operand& out) {
  if (kind_of(input.dtype) <= kind_of(out.dtype)) return std::nullopt;
  return position(i) + " of type " + name_of(input.dtype) + " does not fit into an output of type " +
         name_of(out.dtype);
}

Violation has_shape(const KernelCall& call, int i, const Dims& sizes) {
  const Operand& checked = operand(call, i);
  const bool optional = schema_of(call.kernel).operands[static_cast<std::size_t>(i)] < 'a';
  if ((optional && is_absent(checked)) || checked.sizes == sizes) return std::nullopt;
  return position(i) + " has shape " + shape(checked.sizes) + " in place of " + shape(sizes);
}

Violation one_float_type(const KernelCall& call, int first, int last) {
  const Dtype dtype = operand(call, first).dtype;
  if (!is_floating_point(dtype)) return position(first) + " needs a floating point type";
  for (int i = first + 1; i <= last; ++i) {
    if (is_absent(operand(call, i)) || operand(call, i).dtype == dtype) continue;
    return position(i) + " has type " + name_of(operand(call, i).dtype) + " in place of " + name_of(dtype);
  }
  return std::nullopt;
}

}  // namespace labrig::schema

namespace labrig {

using namespace schema;

std::string_view name_of(Kernel kernel) { return schema_of(kernel).name; }

Access access_of(Kernel kernel, int operand) {
  return access_of(schema_of(kernel).operands[static_cast<std::size_t>(operand)]);
}

int outputs_of(Kernel kernel) {
  const std::string_view operands = schema_of(kernel).operands;
  return static_cast<int>(operands.find_first_of("rR") == operands.npos ? operands.size()
                                                                        : operands.find_first_of("rR"));
}

std::optional<Kernel> kernel_from_index(std::uint16_t index) {
  if (index >= kKernelCount) return std::nullopt;
  return static_cast<Kernel>(index);
}

std::optional<std::string> schema_violation(const KernelCall& call) {
  if (static_cast<int>(call.kernel) >= kKernelCount) return "there is no such kernel";
  const Schema& schema = schema_of(call.kernel);
  if (call.operand_count != static_cast<int>(schema.operands.size())) {
    return "it takes " + std::to_string(schema.operands.size()) + " operands, not " +
           std::to_string(call.operand_count);
  }
  for (int i = 0; i < call.operand_count; ++i) {
    const char letter = schema.operands[static_cast<std::size_t>(i)];
    if (auto violation = operand_violation(operand(call, i), i, letter)) return violation;
  }
  return schema.violation(call);
}

KernelCost cost_of(const KernelCall& call) {
  Counts counts;
  counts.rate = operand(call, 0).dtype;
  for (const Operand& operand : call.all()) {
    const Wide passes = operand.access == Access::read_write ? 2 : 1;
    counts.bytes += passes * distinct_elements(operand) * static_cast<std::int64_t>(element_bytes(operand.dtype));
  }
  schema_of(call.kernel).cost(call, counts);
  return {saturated(counts.flops), saturated(counts.bytes), saturated(counts.steps), counts.rate, counts.matrix};
}

}  // namespace labrig
