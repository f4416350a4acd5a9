// How element types are called in PyTorch's error texts ("Float", "Half", …), where labrig's own short names will not
// do.
#pragma once

#include "labrig/dtype.hpp"

namespace labrig {

const char* torch_type_name(Dtype dtype);

}  // namespace labrig
