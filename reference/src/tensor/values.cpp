// Values of a tensor as numbers and as text. On a card every call here waits for the work queued before it.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "labrig/error.hpp"
#include "ops/strided.hpp"
#include "tensor/impl.hpp"

namespace labrig {
namespace {

constexpr std::int64_t kShownEnds = 3;      // of a long dimension: its first and last three entries
constexpr std::int64_t kShownWhole = 1000;  // tensors up to this many elements are shown whole

// A tensor of one element, on the host.
Tensor fetched(const Tensor& tensor) {
  if (tensor.numel() != 1) {
    throw Error("not-a-scalar",
                "a Tensor with " + std::to_string(tensor.numel()) + " elements cannot be converted to Scalar",
                "item() gives the one value of a tensor that has one; this one has shape " + tensor.sizes().str(),
                "choose an element first, as x[0].item(), or reduce the tensor");
  }
  if (tensor.device().is_cpu()) {
    announce_host_access(impl_of(tensor), false);
    return tensor;
  }
  Tensor host = make_tensor(tensor.sizes(), {tensor.dtype(), Device{}}, tensor.name());
  copy_values(host, tensor, false, trace::Cause::value);
  return host;
}

// The one value of a host tensor, as `T`.
template <class T>
T value_of(const Tensor& tensor) {
  return kernels::dispatch(tensor.dtype(), [&]<class Element>() {
    Element element;
    std::memcpy(&element, tensor.data_ptr(), sizeof element);
    return kernels::convert<T>(element);
  });
}

std::string element_text(const std::byte* at, Dtype dtype) {
  return kernels::dispatch(dtype, [&]<class Element>() -> std::string {
    Element element;
    std::memcpy(&element, at, sizeof element);
    if constexpr (std::is_same_v<Element, kernels::Bool8>) {
      return element.byte ? "true" : "false";
    } else if constexpr (kernels::is_float_element<Element>) {
      if (std::isnan(kernels::load(element))) return "nan";  // whatever its sign
      char text[32];
      std::snprintf(text, sizeof text, "%.*g", std::is_same_v<Element, double> ? 10 : 6,
                    static_cast<double>(kernels::load(element)));
      return text;
    } else {
      return std::to_string(element);
    }
  });
}

// Nested brackets, dimension by dimension, of a contiguous host tensor.
void append_values(std::string& text, const std::byte* at, const Layout& layout, Dtype dtype, int dim, bool whole) {
  if (dim == layout.dim()) {
    text += element_text(at, dtype);
    return;
  }
  const std::int64_t size = layout.sizes[dim];
  const auto step = layout.strides[dim] * static_cast<std::int64_t>(element_bytes(dtype));
  text += "[";
  for (std::int64_t i = 0; i < size; ++i) {
    if (i > 0) text += ", ";
    if (!whole && size > 2 * kShownEnds && i == kShownEnds) {
      text += "..., ";
      i = size - kShownEnds;
    }
    append_values(text, at + i * step, layout, dtype, dim + 1, whole);
  }
  text += "]";
}

}  // namespace

double Tensor::item_as_double() const { return value_of<double>(fetched(*this)); }
std::int64_t Tensor::item_as_int() const { return value_of<std::int64_t>(fetched(*this)); }

bool Tensor::is_nonzero() const {
  if (numel() != 1) {
    throw Error("not-a-scalar",
                std::string("Boolean value of Tensor with ") + (numel() == 0 ? "no values" : "more than one value") +
                    " is ambiguous",
                "a tensor of shape " + sizes().str() + " is neither true nor false", "reduce it to one value first");
  }
  return item_as_double() != 0;
}

std::string Tensor::str() const {
  if (!defined()) return "undefined tensor";
  Tensor host = *this;
  if (!device().is_cpu()) {
    host = make_tensor(sizes(), {dtype(), Device{}}, name());
    copy_values(host, *this, false, trace::Cause::value);
  }
  host = host.contiguous();
  announce_host_access(impl_of(host), false);
  std::string text = name().empty() ? "" : name() + ": ";
  text += std::string(name_of(dtype())) + sizes().str() + " on " + device().str() + " = ";
  append_values(text, static_cast<const std::byte*>(host.data_ptr()), host.layout(), dtype(), 0,
                numel() <= kShownWhole);
  return text;
}

}  // namespace labrig
