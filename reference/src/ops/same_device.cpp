// All operands of an operator on one device: the two rules that PyTorch has for it, and the error that says for every
// operand what it is, where it lies and where it came from.
#include <algorithm>

#include "labrig/error.hpp"
#include "ops/operands.hpp"

namespace labrig {
namespace {

// The device of most operands; of two with equally many the card, since moving work to the host costs more.
Device majority(std::span<const NamedOperand> operands) {
  Device best;
  std::ptrdiff_t most = 0;
  for (const NamedOperand& candidate : operands) {
    if (!candidate.tensor->defined()) continue;
    const Device device = candidate.tensor->device();
    const auto votes = std::count_if(operands.begin(), operands.end(), [&](const NamedOperand& operand) {
      return operand.tensor->defined() && operand.tensor->device() == device;
    });
    if (votes > most || (votes == most && best.is_cpu())) {
      best = device;
      most = votes;
    }
  }
  return best;
}

Error device_mismatch(const char* op, std::string what, std::span<const NamedOperand> operands) {
  const Device target = majority(operands);
  std::string why = std::string(op) + " works on one device: ", movers;
  bool first = true;
  for (const NamedOperand& operand : operands) {
    if (!operand.tensor->defined()) continue;
    why += (first ? "" : "; ") + described(operand);
    first = false;
    if (operand.tensor->device() == target) continue;
    movers += (movers.empty() ? "" : " and ") + std::string(operand.role);
  }
  std::string fix = "move " + movers + " with .to(\"" + target.str() + "\"), before the loop if it is used again";
  if (!target.is_cpu()) fix += "; moving the others back to the CPU costs more";
  return Error("device-mismatch", std::move(what), std::move(why), std::move(fix));
}

}  // namespace

void require(const char* op, const NamedOperand& operand) {
  if (operand.tensor->defined() || operand.may_be_absent) return;
  throw Error("undefined-tensor", "the tensor is undefined",
              std::string("argument '") + operand.role + "' of " + op + " is a Tensor that nothing was assigned to",
              "assign one first, as in `x = labrig::zeros({2, 3})`");
}

std::string described(const NamedOperand& operand) {
  const Tensor& tensor = *operand.tensor;
  std::string text = operand.role;
  if (!tensor.name().empty()) text += " '" + tensor.name() + "'";
  text += std::string(" is ") + name_of(tensor.dtype()) + tensor.sizes().str() + " on " + tensor.device().str();
  const std::string origin = impl_of(tensor).origin.str();
  return origin.empty() ? text : text + ", " + origin;
}

Device common_device(const char* op, std::span<const NamedOperand> operands) {
  Device common;
  for (const NamedOperand& operand : operands) {
    require(op, operand);
    if (operand.tensor->defined() && common.is_cpu()) common = operand.tensor->device();
  }
  for (const NamedOperand& operand : operands) {
    if (!operand.tensor->defined()) continue;
    const Device device = operand.tensor->device();
    if (device == common || is_number_for(common, *operand.tensor)) continue;
    throw device_mismatch(op,
                          "Expected all tensors to be on the same device, but found at least two devices, " +
                              common.str() + " and " + device.str() + "!",
                          operands);
  }
  return common;
}

Device strict_device(const char* op, const char* method, std::span<const NamedOperand> operands) {
  const NamedOperand* first = nullptr;
  for (const NamedOperand& operand : operands) {
    require(op, operand);
    if (!operand.tensor->defined()) continue;
    if (!first) first = &operand;
    const Device device = operand.tensor->device(), expected = first->tensor->device();
    if (device == expected) continue;
    throw device_mismatch(op,
                          std::string("Expected all tensors to be on the same device, but got ") + operand.role +
                              " is on " + device.str() + ", different from other tensors on " + expected.str() +
                              " (when checking argument in method " + method + ")",
                          operands);
  }
  return first ? first->tensor->device() : Device{};
}

}  // namespace labrig
