// How element types are called in PyTorch's error texts ("Float", "Half", …), where labrig's own short names will not
// do.
#pragma once

#include <string>

#include "labrig/tensor.hpp"

namespace labrig {

const char* torch_type_name(Dtype dtype);
// "torch.FloatTensor" on the host, "torch.cuda.HalfTensor" on a card: PyTorch's older name of element type and device.
std::string torch_tensor_name(const Tensor& tensor);

}  // namespace labrig
