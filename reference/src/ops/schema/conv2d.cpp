// Convolution and its two gradients: three tensors that stand in one relation, of which one is the result.
//
//   image [n, c, h, w]   weight [o, c, kh, kw]   map [n, o, h', w']      h' = (h + 2 padding - kh) / stride + 1
#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

constexpr std::uint64_t kMostStep = std::uint64_t{1} << 31;  // of strides and paddings

// Which operand is which: the result comes first, then the others in the order image or map, weight; map, image.
struct Roles {
  const Operand &image, &weight, &map;
};
Roles roles_of(const KernelCall& call) {
  const Operand &first = operand(call, 0), &second = operand(call, 1), &third = operand(call, 2);
  if (call.kernel == Kernel::conv2d_input_backward) return {first, third, second};
  if (call.kernel == Kernel::conv2d_weight_backward) return {third, first, second};
  return {second, third, first};
}

Violation side_violation(const KernelCall& call, const Roles& roles, std::size_t side) {
  const std::uint64_t stride = call.scalars[side], padding = call.scalars[2 + side];
  if (stride < 1 || stride > kMostStep) return "a stride must be 1 or more, and at most 2^31";
  if (padding > kMostStep) return "a padding must be 0 or more, and at most 2^31";
  const int d = 2 + static_cast<int>(side);
  const Wide padded = Wide{roles.image.sizes[d]} + 2 * static_cast<Wide>(padding);
  const Wide kernel = roles.weight.sizes[d];
  if (kernel < 1 || kernel > padded) return "the weight is larger than the padded image, or has no elements";
  if (roles.map.sizes[d] != (padded - kernel) / static_cast<Wide>(stride) + 1) {
    return "dimension " + std::to_string(d) + " of image " + shape(roles.image.sizes) + ", weight " +
           shape(roles.weight.sizes) + " and map " + shape(roles.map.sizes) + " does not fit stride and padding";
  }
  return std::nullopt;
}

}  // namespace

Violation conv2d_violation(const KernelCall& call) {
  const Roles roles = roles_of(call);
  for (const Operand* checked : {&roles.image, &roles.weight, &roles.map}) {
    if (checked->sizes.count() != 4) return "image, weight and map need four dimensions";
  }
  const Dims &image = roles.image.sizes, &weight = roles.weight.sizes, &map = roles.map.sizes;
  if (image[0] != map[0] || image[1] != weight[1] || weight[0] != map[1]) {
    return "image " + shape(image) + ", weight " + shape(weight) + " and map " + shape(map) + " do not fit together";
  }
  for (const std::size_t side : {0, 1}) {
    if (auto violation = side_violation(call, roles, side)) return violation;
  }
  if (call.kernel == Kernel::conv2d) {
    if (auto violation = has_shape(call, 3, {weight[0]})) return violation;
  }
  return one_float_type(call, 0, call.operand_count - 1);
}

// At most 2^34 map elements times 2^34 elements of a weight: far inside 128 bits. Without outputs nothing bounds the
// sizes of the weight.
void conv2d_cost(const KernelCall& call, Counts& counts) {
  const Roles roles = roles_of(call);
  const Dims& weight = roles.weight.sizes;
  const Wide outputs = elements(roles.map.sizes);
  const Wide products = outputs == 0 ? 0 : outputs * (Wide{weight[1]} * weight[2] * weight[3]);
  counts.flops = 2 * products;
  if (call.kernel == Kernel::conv2d && !is_absent(operand(call, 3))) counts.flops += outputs;
  counts.steps = products + elements(operand(call, 0).sizes);  // the result is written whatever is summed
  counts.matrix = true;
}

}  // namespace labrig::schema
