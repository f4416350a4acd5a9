// index and index_add: the indices are looked at first, all of them, so that a bad one leaves everything as it was;
// then the positions are taken in row-major order, which fixes the order in which values that meet are added.
//
//   x [5, 4, 3], i0 and i1 of shape [2]   ->   picked[p] = x[i0[p], i1[p]], a row of 3
#include <algorithm>

#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

constexpr int kFirstIndex = 2;
constexpr int kMaxIndices = 4;

// The positions of the indices, one after another; for each, where its row begins in the whole and among the picked.
class Positions {
 public:
  Positions(const KernelCall& call, const Operand& whole, const Operand& picked)
      : whole_(whole), picked_(picked), only_from_start_(call.scalars[0] != 0) {
    for (; count_ < kMaxIndices && (count_ == 0 || !is_absent(call.operands[at(count_)])); ++count_) {
      indices_[count_] = &call.operands[at(count_)];
    }
    for (int d = count_; d < whole.sizes.count(); ++d) {
      row_sizes_.push_back(whole.sizes[d]);
      whole_strides_.push_back(whole.strides[d]);
      picked_strides_.push_back(picked.strides[d - count_ + indices_[0]->sizes.count()]);
    }
  }

  // use(offset in the whole, offset among the picked), in elements. Throws BadIndex.
  template <class Use>
  void each(Use&& use) const {
    const Dims& sizes = indices_[0]->sizes;
    const std::int64_t positions = sizes.product();
    std::int64_t index[kMaxDims] = {};
    for (std::int64_t p = 0; p < positions; ++p) {
      std::int64_t to = 0;
      for (int d = 0; d < sizes.count(); ++d) to += index[d] * picked_.strides[d];
      use(offset_at(index, p), to);
      for (int d = sizes.count() - 1; d >= 0 && ++index[d] == sizes[d]; --d) index[d] = 0;
    }
  }

  // One row of each: operands of the same shape, with these first elements.
  Operand row_of_whole(std::int64_t offset) const { return row(whole_, whole_strides_, offset); }
  Operand row_of_picked(std::int64_t offset) const { return row(picked_, picked_strides_, offset); }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(kFirstIndex + i); }

  std::int64_t offset_at(const std::int64_t (&index)[kMaxDims], std::int64_t position) const {
    std::int64_t offset = 0;
    for (int i = 0; i < count_; ++i) {
      const Operand& operand = *indices_[i];
      std::int64_t from = 0;
      for (int d = 0; d < operand.sizes.count(); ++d) from += index[d] * operand.strides[d];
      const std::int64_t value = static_cast<const std::int64_t*>(operand.data)[from], size = whole_.sizes[i];
      if (value >= size || value < (only_from_start_ ? 0 : -size)) {
        throw BadIndex{kFirstIndex + i, position, value, size, !only_from_start_};
      }
      offset += (value < 0 ? value + size : value) * whole_.strides[i];
    }
    return offset;
  }

  Operand row(const Operand& operand, const Dims& strides, std::int64_t offset) const {
    Operand result = operand;
    result.data =
        static_cast<std::byte*>(operand.data) + offset * static_cast<std::int64_t>(element_bytes(operand.dtype));
    result.sizes = row_sizes_;
    result.strides = strides;
    return result;
  }

  const Operand &whole_, &picked_;
  const bool only_from_start_;
  const Operand* indices_[kMaxIndices] = {};
  int count_ = 0;
  Dims row_sizes_, whole_strides_, picked_strides_;
};

// step(element of `to`, element of `from`) for each pair of one row.
template <class T, class Step>
void walk_row(const Operand& to, const Operand& from, Step step) {
  Walk<2>({&to, &from}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    auto* into = reinterpret_cast<T*>(first[0]);
    const auto* values = reinterpret_cast<const T*>(first[1]);
    for (std::int64_t i = 0; i < count; ++i) step(into[i * strides[0]], values[i * strides[1]]);
  });
}

}  // namespace

void index(const KernelCall& call) {
  const bool adds = call.kernel == Kernel::index_add;
  const Operand &whole = call.operands[adds ? 0 : 1], &picked = call.operands[adds ? 1 : 0];
  const Positions positions(call, whole, picked);
  positions.each([](std::int64_t, std::int64_t) {});
  dispatch(whole.dtype, [&]<class T>() {
    positions.each([&](std::int64_t in_whole, std::int64_t in_picked) {
      const Operand row = positions.row_of_whole(in_whole), part = positions.row_of_picked(in_picked);
      if (adds) {
        if constexpr (is_float_element<T>) {
          walk_row<T>(row, part, [](T& sum, T value) { sum = store<T>(load(sum) + load(value)); });
        }
      } else {
        walk_row<T>(part, row, [](T& to, T from) { to = from; });
      }
    });
  });
}

}  // namespace labrig::kernels
