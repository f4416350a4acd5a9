// Operators on tensors. All operands must live on one device (a 0-dim CPU tensor counts as a number); the result lives
// there too. Shapes broadcast and types promote as in PyTorch; errors carry PyTorch's text. On a card a call queues
// work in the current stream and returns.
#pragma once

#include <type_traits>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig {

// A number as an operand. As in PyTorch, an integer leaves the element type of an integer tensor alone, while a
// floating point number makes the result f32; no number changes the type of a floating point tensor.
class Scalar {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value)
      : value_(static_cast<double>(value)),
        dtype_(std::is_same_v<T, bool> ? kBool
               : std::is_integral_v<T> ? kI64
                                       : kF32) {}
  constexpr double value() const { return value_; }
  constexpr Dtype dtype() const { return dtype_; }  // bool, i64 or f32: what it would be as a tensor

 private:
  double value_;
  Dtype dtype_;
};

// Elementwise, with broadcasting. Integer division gives f32, as `torch.div`.
LABRIG_API Tensor add(const Tensor& a, const Tensor& b);
LABRIG_API Tensor sub(const Tensor& a, const Tensor& b);
LABRIG_API Tensor mul(const Tensor& a, const Tensor& b);
LABRIG_API Tensor div(const Tensor& a, const Tensor& b);
LABRIG_API Tensor add(const Tensor& a, Scalar b);
LABRIG_API Tensor sub(const Tensor& a, Scalar b);
LABRIG_API Tensor mul(const Tensor& a, Scalar b);
LABRIG_API Tensor div(const Tensor& a, Scalar b);
// In place: the result must broadcast to, and be castable to, the first operand. Returns it.
LABRIG_API const Tensor& add_(const Tensor& self, const Tensor& b);
LABRIG_API const Tensor& sub_(const Tensor& self, const Tensor& b);
LABRIG_API const Tensor& mul_(const Tensor& self, const Tensor& b);
LABRIG_API const Tensor& div_(const Tensor& self, const Tensor& b);

LABRIG_API Tensor relu(const Tensor& x);
LABRIG_API Tensor neg(const Tensor& x);
// x where `mask` (bool) is false, `value` where it is true; mask broadcasts to x.
LABRIG_API Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

// Matrix product of 2-d tensors [m, k] x [k, n] -> [m, n]; 1-d operands as in torch.matmul. Floating point only.
LABRIG_API Tensor matmul(const Tensor& a, const Tensor& b);

// Over all elements, or over one dimension. `sum` of integers is i64; `mean` needs floating point.
LABRIG_API Tensor sum(const Tensor& x);
LABRIG_API Tensor sum(const Tensor& x, int dim, bool keepdim = false);
LABRIG_API Tensor mean(const Tensor& x);
LABRIG_API Tensor mean(const Tensor& x, int dim, bool keepdim = false);
LABRIG_API Tensor max(const Tensor& x);
LABRIG_API Tensor max(const Tensor& x, int dim, bool keepdim = false);

// Along an existing dimension, or along a new one.
LABRIG_API Tensor cat(const std::vector<Tensor>& tensors, int dim = 0);
LABRIG_API Tensor stack(const std::vector<Tensor>& tensors, int dim = 0);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& a, Scalar b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, Scalar b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, Scalar b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, Scalar b) { return div(a, b); }
inline Tensor operator+(Scalar a, const Tensor& b) { return add(b, a); }
inline Tensor operator*(Scalar a, const Tensor& b) { return mul(b, a); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace labrig
