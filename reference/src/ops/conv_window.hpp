// Which elements of an image a weight's element meets as it is moved over one side of it; the arithmetic that all
// convolutions on the host share.
//
//   map      0     1     2          image position = map position * stride + tap - padding
//   image  . 0 1 2 3 4 .            (tap: the weight's element; positions outside the image are zeros)
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/kernel.hpp"

namespace labrig::kernels {

struct Side {
  std::int64_t image, weight, map, stride, padding;

  std::int64_t image_position(std::int64_t position, std::int64_t tap) const {
    return position * stride + tap - padding;
  }
  bool inside(std::int64_t image_at) const { return image_at >= 0 && image_at < image; }
  // The map positions first … last - 1 whose image position is inside.
  std::int64_t first(std::int64_t tap) const {
    return std::min(map, std::max<std::int64_t>(0, (padding - tap + stride - 1) / stride));
  }
  std::int64_t last(std::int64_t tap) const {
    const std::int64_t most = image - 1 + padding - tap;
    return most < 0 ? 0 : std::min(map, most / stride + 1);
  }
};

// Side 0 is the height, side 1 the width.
inline Side side_of(const KernelCall& call, const Operand& image, const Operand& weight, const Operand& map,
                    std::size_t side) {
  const int d = 2 + static_cast<int>(side);
  return {image.sizes[d], weight.sizes[d], map.sizes[d], static_cast<std::int64_t>(call.scalars[side]),
          static_cast<std::int64_t>(call.scalars[2 + side])};
}

}  // namespace labrig::kernels
