// Convolution on the host as matrix products. What a weight meets at each position of the map becomes one column:
//
//   columns [c kh kw, positions]     map [o, positions]  = weight [o, c kh kw] x columns
//                                    columns of dx       = weight^T x dy, added up where they overlap
//                                    dw                  = dy x columns^T
//
// The columns of a few positions at a time are made, so that the scratch memory stays small whatever the sizes;
// positions run through all images. 16-bit floats are computed as f32 and rounded once.
#include <algorithm>
#include <vector>

#include "blas.hpp"
#include "kernels.hpp"
#include "ops/conv_window.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::cpu {
namespace {

using kernels::Arithmetic, kernels::Side, kernels::load, kernels::store;

constexpr std::int64_t kScratchBytes = 4 << 20;

template <class T>
class Convolution {
 public:
  using V = Arithmetic<T>;

  Convolution(const KernelCall& call, const Operand& image, const Operand& weight, const Operand& map)
      : image_(image),
        weight_(weight),
        map_(map),
        height_(kernels::side_of(call, image, weight, map, 0)),
        width_(kernels::side_of(call, image, weight, map, 1)),
        channels_(map.sizes[1]),
        taps_(weight.sizes[1] * weight.sizes[2] * weight.sizes[3]),
        positions_(map.sizes[0] * map.sizes[2] * map.sizes[3]) {
    const std::int64_t column_bytes = (taps_ + channels_) * static_cast<std::int64_t>(sizeof(V));
    chunk_ = std::clamp<std::int64_t>(kScratchBytes / std::max<std::int64_t>(column_bytes, 1), 1, positions_);
    columns_.resize(static_cast<std::size_t>(taps_ * chunk_));
    part_.resize(static_cast<std::size_t>(channels_ * chunk_));
  }

  // Each is false, with nothing done that matters, without OpenBLAS.
  bool forward(const Operand& bias) {
    const std::vector<V> weights = packed_weight();
    for (start_ = 0; start_ < positions_; start_ += chunk_) {
      make_columns();
      if (!gemm(channels_, count(), taps_, {weights.data(), taps_, false}, {columns_.data(), chunk_, false},
                {part_.data(), chunk_, false})) {
        return false;
      }
      for_map([&](T& element, V& value, std::int64_t o) {
        const V added = is_absent(bias) ? V{0} : load(static_cast<const T*>(bias.data)[o * bias.strides[0]]);
        element = store<T>(value + added);
      });
    }
    return true;
  }

  bool input_backward() {
    const std::vector<V> weights = packed_weight();
    const Dims dense = Layout::contiguous(image_.sizes).strides;
    std::vector<V> sums(static_cast<std::size_t>(image_.sizes.product()), V{0});
    for (start_ = 0; start_ < positions_; start_ += chunk_) {
      for_map([](T& element, V& value, std::int64_t) { value = load(element); });
      if (!gemm(taps_, count(), channels_, {weights.data(), taps_, true}, {part_.data(), chunk_, false},
                {columns_.data(), chunk_, false})) {
        return false;
      }
      for_columns(dense, [&](std::int64_t offset, std::int64_t step, std::int64_t n, V* column) {
        for (std::int64_t i = 0; i < n; ++i) sums[static_cast<std::size_t>(offset + i * step)] += column[i];
      });
    }
    store_all(image_, sums);
    return true;
  }

  bool weight_backward() {
    std::vector<V> sums(static_cast<std::size_t>(channels_ * taps_), V{0});
    for (start_ = 0; start_ < positions_; start_ += chunk_) {
      make_columns();
      for_map([](T& element, V& value, std::int64_t) { value = load(element); });
      if (!gemm(channels_, taps_, count(), {part_.data(), chunk_, false}, {columns_.data(), chunk_, true},
                {sums.data(), taps_, false}, true)) {
        return false;
      }
    }
    store_all(weight_, sums);
    return true;
  }

 private:
  std::int64_t count() const { return std::min(chunk_, positions_ - start_); }

  // The positions of this chunk in pieces of one row of one map: visit(column, image n, row y, column x, how many).
  template <class Visit>
  void for_pieces(Visit&& visit) const {
    const std::int64_t end = start_ + count();
    for (std::int64_t p = start_; p < end;) {
      const std::int64_t x = p % width_.map, line = p / width_.map;
      const std::int64_t n = std::min(width_.map - x, end - p);
      visit(p - start_, line / height_.map, line % height_.map, x, n);
      p += n;
    }
  }

  // Elements of the map beside their place in `part_`: use(element, place, channel).
  template <class Use>
  void for_map(Use&& use) {
    for_pieces([&](std::int64_t column, std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t n) {
      const Dims& strides = map_.strides;
      for (std::int64_t o = 0; o < channels_; ++o) {
        T* first = static_cast<T*>(map_.data) + image * strides[0] + o * strides[1] + y * strides[2] + x * strides[3];
        V* place = part_.data() + o * chunk_ + column;
        for (std::int64_t i = 0; i < n; ++i) use(first[i * strides[3]], place[i], o);
      }
    });
  }

  // For each tap the run of a piece that lies inside the image: use(offset of its first element in an image with these
  // strides, step, how many, its place in the columns).
  template <class Use>
  void for_columns(const Dims& strides, Use&& use) {
    for_pieces([&](std::int64_t column, std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t n) {
      std::int64_t tap = 0;
      for (std::int64_t c = 0; c < weight_.sizes[1]; ++c) {
        for (std::int64_t ky = 0; ky < height_.weight; ++ky) {
          const std::int64_t at = height_.image_position(y, ky);
          for (std::int64_t kx = 0; kx < width_.weight; ++kx, ++tap) {
            const std::int64_t first = std::max(x, width_.first(kx)), last = std::min(x + n, width_.last(kx));
            if (!height_.inside(at) || first >= last) continue;
            const std::int64_t offset =
                image * strides[0] + c * strides[1] + at * strides[2] + width_.image_position(first, kx) * strides[3];
            use(offset, width_.stride * strides[3], last - first, columns_.data() + tap * chunk_ + column + first - x);
          }
        }
      }
    });
  }

  void make_columns() {
    std::fill(columns_.begin(), columns_.end(), V{0});
    const auto* image = static_cast<const T*>(image_.data);
    for_columns(image_.strides, [&](std::int64_t offset, std::int64_t step, std::int64_t n, V* column) {
      for (std::int64_t i = 0; i < n; ++i) column[i] = load(image[offset + i * step]);
    });
  }

  static Operand dense(const Operand& like, V* data) {
    Operand operand = like;
    operand.data = data;
    operand.dtype = dtype_of<V>;
    operand.strides = Layout::contiguous(like.sizes).strides;
    return operand;
  }
  std::vector<V> packed_weight() const {
    std::vector<V> values(static_cast<std::size_t>(channels_ * taps_));
    copy(dense(weight_, values.data()), weight_);
    return values;
  }
  static void store_all(const Operand& to, std::vector<V>& values) { copy(to, dense(to, values.data())); }
  static void copy(const Operand& to, const Operand& from) {
    KernelCall call;
    call.kernel = Kernel::copy;
    call.push(to);
    call.push(from);
    kernels::run(call);
  }

  const Operand &image_, &weight_, &map_;
  const Side height_, width_;
  const std::int64_t channels_, taps_, positions_;
  std::int64_t chunk_ = 0, start_ = 0;
  std::vector<V> columns_, part_;  // rows of `chunk_`
};

template <class T>
bool convolve(const KernelCall& call) {
  const auto& operands = call.operands;
  if (call.kernel == Kernel::conv2d) {
    return Convolution<T>(call, operands[1], operands[2], operands[0]).forward(operands[3]);
  }
  if (call.kernel == Kernel::conv2d_input_backward) {
    return Convolution<T>(call, operands[0], operands[2], operands[1]).input_backward();
  }
  return Convolution<T>(call, operands[2], operands[0], operands[1]).weight_backward();
}

bool has_nothing_to_sum(const KernelCall& call) {
  for (int i = 0; i < 3; ++i) {
    if (call.operands[static_cast<std::size_t>(i)].sizes.product() == 0) return true;
  }
  return false;
}

}  // namespace

void conv2d(const KernelCall& call) {
  bool done = false;
  if (!has_nothing_to_sum(call)) {
    kernels::dispatch(call.operands[0].dtype, [&]<class T>() {
      if constexpr (kernels::is_float_element<T>) done = convolve<T>(call);
    });
  }
  if (!done) kernels::run(call);
}

}  // namespace labrig::cpu
