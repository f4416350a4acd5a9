// Convolution and its two gradients as plain loops. Every result is a sum in one order (channel, row, column of the
// weight; for the weight's gradient image, row, column of the map), in float, double for f64. A row of results is
// summed at a time, so that the innermost loop runs over neighbours; zeros of the padding are left out.
#include <vector>

#include "ops/conv_window.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

constexpr std::int64_t kLanes = 8;

// A row of a tensor of four dimensions: its first element and the step to the next.
template <class T>
struct Row {
  T* first;
  std::int64_t step;
  T& operator[](std::int64_t i) const { return first[i * step]; }
};
template <class T>
Row<T> row_of(const Operand& operand, std::int64_t a, std::int64_t b, std::int64_t c) {
  const Dims& strides = operand.strides;
  return {static_cast<T*>(operand.data) + a * strides[0] + b * strides[1] + c * strides[2], strides[3]};
}

template <class T>
class Convolution {
 public:
  using V = Arithmetic<T>;

  Convolution(const KernelCall& call, const Operand& image, const Operand& weight, const Operand& map)
      : image_(image),
        weight_(weight),
        map_(map),
        height_(side_of(call, image, weight, map, 0)),
        width_(side_of(call, image, weight, map, 1)) {}

  void forward(const Operand& bias) const {
    std::vector<V> sums(static_cast<std::size_t>(width_.map));
    for_rows(map_, [&](std::int64_t n, std::int64_t o, std::int64_t y) {
      std::fill(sums.begin(), sums.end(), V{0});
      for (std::int64_t c = 0; c < image_.sizes[1]; ++c) {
        for (std::int64_t tap = 0; tap < height_.weight; ++tap) {
          const std::int64_t from = height_.image_position(y, tap);
          if (height_.inside(from)) add_taps(sums.data(), row_of<const T>(image_, n, c, from), row(weight_, o, c, tap));
        }
      }
      const V added = is_absent(bias) ? V{0} : load(static_cast<const T*>(bias.data)[o * bias.strides[0]]);
      const Row<T> to = row_of<T>(map_, n, o, y);
      for (std::int64_t x = 0; x < width_.map; ++x) to[x] = store<T>(sums[static_cast<std::size_t>(x)] + added);
    });
  }

  void input_backward() const {
    std::vector<V> sums(static_cast<std::size_t>(width_.image));
    for_rows(image_, [&](std::int64_t n, std::int64_t c, std::int64_t at) {
      std::fill(sums.begin(), sums.end(), V{0});
      for (std::int64_t o = 0; o < map_.sizes[1]; ++o) {
        for (std::int64_t tap = 0; tap < height_.weight; ++tap) {
          const std::int64_t scaled = at + height_.padding - tap;
          if (scaled < 0 || scaled % height_.stride != 0 || scaled / height_.stride >= height_.map) continue;
          spread_taps(sums.data(), row(map_, n, o, scaled / height_.stride), row(weight_, o, c, tap));
        }
      }
      const Row<T> to = row_of<T>(image_, n, c, at);
      for (std::int64_t x = 0; x < width_.image; ++x) to[x] = store<T>(sums[static_cast<std::size_t>(x)]);
    });
  }

  void weight_backward() const {
    for_rows(weight_, [&](std::int64_t o, std::int64_t c, std::int64_t tap) {
      const Row<T> to = row_of<T>(weight_, o, c, tap);
      for (std::int64_t x = 0; x < width_.weight; ++x) to[x] = store<T>(static_cast<V>(weight_sum(o, c, tap, x)));
    });
  }

 private:
  // Rows of a tensor in their order: visit(index 0, 1, 2).
  template <class Visit>
  static void for_rows(const Operand& operand, Visit&& visit) {
    for (std::int64_t a = 0; a < operand.sizes[0]; ++a) {
      for (std::int64_t b = 0; b < operand.sizes[1]; ++b) {
        for (std::int64_t c = 0; c < operand.sizes[2]; ++c) visit(a, b, c);
      }
    }
  }
  static Row<const T> row(const Operand& operand, std::int64_t a, std::int64_t b, std::int64_t c) {
    return row_of<const T>(operand, a, b, c);
  }

  // sums [map] += image row * each element of the weight's row
  void add_taps(V* sums, Row<const T> image, Row<const T> weight) const {
    for (std::int64_t tap = 0; tap < width_.weight; ++tap) {
      const V factor = load(weight[tap]);
      for (std::int64_t x = width_.first(tap), last = width_.last(tap); x < last; ++x) {
        sums[x] += factor * load(image[width_.image_position(x, tap)]);
      }
    }
  }

  // sums [image] += map row * each element of the weight's row
  void spread_taps(V* sums, Row<const T> map, Row<const T> weight) const {
    for (std::int64_t tap = 0; tap < width_.weight; ++tap) {
      const V factor = load(weight[tap]);
      for (std::int64_t x = width_.first(tap), last = width_.last(tap); x < last; ++x) {
        sums[width_.image_position(x, tap)] += factor * load(map[x]);
      }
    }
  }

  // Over all images: rows in lanes of V, the rows' sums in double.
  double weight_sum(std::int64_t o, std::int64_t c, std::int64_t tap_y, std::int64_t tap_x) const {
    double sum = 0;
    const std::int64_t first = width_.first(tap_x), last = width_.last(tap_x);
    for (std::int64_t n = 0; n < map_.sizes[0]; ++n) {
      for (std::int64_t y = height_.first(tap_y); y < height_.last(tap_y); ++y) {
        const Row<const T> map = row(map_, n, o, y);
        const Row<const T> image = row(image_, n, c, height_.image_position(y, tap_y));
        V lanes[kLanes] = {};
        std::int64_t x = first;
        const auto product = [&](std::int64_t i) {
          return load(map[i]) * load(image[width_.image_position(i, tap_x)]);
        };
        for (; x + kLanes <= last; x += kLanes) {
          for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += product(x + lane);
        }
        for (; x < last; ++x) lanes[0] += product(x);
        for (const V lane : lanes) sum += static_cast<double>(lane);
      }
    }
    return sum;
  }

  const Operand &image_, &weight_, &map_;
  const Side height_, width_;
};

}  // namespace

void conv2d(const KernelCall& call) {
  const auto& operands = call.operands;
  dispatch(operands[0].dtype, [&]<class T>() {
    if constexpr (is_float_element<T>) {
      if (call.kernel == Kernel::conv2d) {
        Convolution<T>(call, operands[1], operands[2], operands[0]).forward(operands[3]);
      } else if (call.kernel == Kernel::conv2d_input_backward) {
        Convolution<T>(call, operands[0], operands[2], operands[1]).input_backward();
      } else {
        Convolution<T>(call, operands[2], operands[0], operands[1]).weight_backward();
      }
    }
  });
}

}  // namespace labrig::kernels
