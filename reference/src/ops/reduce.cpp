// sum, mean, max, argmax, norm: over all dimensions, one, or several, always in one launch. A kernel reduces every
// dimension in which its output has size 1, so that it writes the result seen with the reduced dimensions kept.
#include <string>
#include <utility>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

// What becomes of the sizes of an operand.
struct Shapes {
  Dims kept;  // every reduced dimension has size 1
  Dims result;
};

// Over `dims`, negative ones counted from the end; over all when there are none.
Shapes reduced_shapes(const Dims& sizes, const Dims& dims, bool keepdim) {
  bool is_reduced[kMaxDims] = {};
  for (const std::int64_t dim : dims) {
    const int d = wrap_dim(static_cast<int>(dim), sizes.count());
    if (std::exchange(is_reduced[d], true)) {
      throw Error("duplicate-dimension", "dim " + std::to_string(d) + " appears multiple times in the list of dims",
                  "the list " + dims.str() + " names one dimension of " + sizes.str() +
                      " twice; negative ones count "
                      "from the end",
                  "name each dimension once");
    }
  }
  Shapes shapes{sizes, {}};
  for (int d = 0; d < sizes.count(); ++d) {
    const bool reduced = dims.count() == 0 || is_reduced[d];
    if (reduced) shapes.kept[d] = 1;
    if (!reduced || keepdim) shapes.result.push_back(shapes.kept[d]);
  }
  return shapes;
}

Tensor reduce(Kernel kernel, const Tensor& x, const Shapes& shapes, Dtype dtype, std::uint64_t scalar = 0) {
  const NoGradGuard the_view_is_no_step;
  Tensor out = make_tensor(shapes.result, {dtype, x.device()}, name_of(kernel));
  const Tensor kept = out.view(shapes.kept);
  run(kernel, {&kept, &x}, {scalar});
  return out;
}

Dtype sum_type(const Tensor& x) { return is_floating_point(impl_of(x).dtype) ? x.dtype() : kI64; }

Dtype mean_type(const Tensor& x) {
  if (is_floating_point(impl_of(x).dtype)) return x.dtype();
  throw Error("dtype-mismatch",
              std::string("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                          "complex dtype. Got: ") +
                  torch_type_name(x.dtype()),
              "the mean of integers is not an integer", "convert the tensor to f32 first");
}

Error no_maximum(std::string what) {
  return Error("empty-reduction", std::move(what), "there is no largest of no elements",
               "check why the tensor is empty before taking its maximum");
}

// The dimension, from the front, along which there is something to compare.
int searched_dim(const char* op, const Tensor& x, int dim) {
  const int d = wrap_dim(dim, impl_of(x).layout.dim());
  if (x.dim() == 0 || x.size(d) != 0) return d;
  throw no_maximum(std::string(op) + "(): Expected reduction dim " + std::to_string(d) + " to have non-zero size.");
}

// The gradient of a sum belongs to every element that was added: a view that repeats it.
Tensor repeated(const Tensor& gradient, const Dims& kept, const Dims& sizes) {
  return gradient.reshape(kept).expand(sizes);
}

Tensor sum_of(const char* node, const Tensor& x, const Shapes& shapes) {
  Tensor out = reduce(Kernel::sum, x, shapes, sum_type(x));
  graph::record(node, out, {&x}, [&](graph::Saver&) {
    return [kept = shapes.kept, sizes = x.sizes()](const Tensor& gradient, graph::Gradients& to) {
      to.give(0, repeated(gradient, kept, sizes));
    };
  });
  return out;
}

Tensor mean_of(const char* node, const Tensor& x, const Shapes& shapes) {
  Tensor out = reduce(Kernel::mean, x, shapes, mean_type(x));
  graph::record(node, out, {&x}, [&](graph::Saver&) {
    return [kept = shapes.kept, sizes = x.sizes()](const Tensor& gradient, graph::Gradients& to) {
      const auto share = static_cast<double>(sizes.product()) / static_cast<double>(kept.product());
      to.give(0, repeated(div(gradient, share), kept, sizes));
    };
  });
  return out;
}

// 1 for every element that is the maximum: NaN where that is NaN.
Tensor is_maximum(const Tensor& x, const Tensor& maximum) {
  return where(ne(maximum, maximum), ne(x, x), eq(x, maximum));
}

// Over all: shared evenly among equal maxima.
void record_max(const Tensor& out, const Tensor& x) {
  graph::record("MaxBackward1", out, {&x}, [&](graph::Saver& save) {
    return [x = save(x), maximum = save(out)](const Tensor& gradient, graph::Gradients& to) {
      const Tensor hit = is_maximum(x.get(), maximum.get());
      const Tensor nothing = zeros({}, {gradient.dtype(), gradient.device()});
      to.give(0, where(hit, div(gradient, sum(hit)), nothing));
    };
  });
}

// Along a dimension: to the first maximum. Its index is kept, as in PyTorch, and not the input.
void record_max(const Tensor& out, const Tensor& x, int d, const Shapes& shapes) {
  graph::record("MaxBackward0", out, {&x}, [&](graph::Saver& save) {
    const Tensor index = reduce(Kernel::argmax, x, {shapes.kept, shapes.kept}, kI64, static_cast<std::uint64_t>(d));
    return
        [index = save(index), d, kept = shapes.kept, size = x.size(d)](const Tensor& gradient, graph::Gradients& to) {
          Dims along;
          for (int i = 0; i < kept.count(); ++i) along.push_back(i == d ? size : 1);
          const Tensor place = arange(size, {kI64, gradient.device()}).view(along);
          to.give(0, masked_fill(gradient.reshape(kept), ne(place, index.get()), 0));
        };
  });
}

}  // namespace

Tensor sum(const Tensor& x_in) {
  const auto [x] = autocast("sum", x_in);
  return sum_of("SumBackward0", x, reduced_shapes(impl_of(x).layout.sizes, {}, false));
}
Tensor sum(const Tensor& x, int dim, bool keepdim) { return sum(x, Dims{dim}, keepdim); }
Tensor sum(const Tensor& x_in, const Dims& dims, bool keepdim) {
  const auto [x] = autocast("sum", x_in);
  return sum_of("SumBackward1", x, reduced_shapes(impl_of(x).layout.sizes, dims, keepdim));
}

Tensor mean(const Tensor& x_in) {
  const auto [x] = autocast("mean", x_in);
  return mean_of("MeanBackward0", x, reduced_shapes(impl_of(x).layout.sizes, {}, false));
}
Tensor mean(const Tensor& x, int dim, bool keepdim) { return mean(x, Dims{dim}, keepdim); }
Tensor mean(const Tensor& x_in, const Dims& dims, bool keepdim) {
  const auto [x] = autocast("mean", x_in);
  return mean_of("MeanBackward1", x, reduced_shapes(impl_of(x).layout.sizes, dims, keepdim));
}

Tensor max(const Tensor& x_in) {
  const auto [x] = autocast("max", x_in);
  if (impl_of(x).layout.numel() == 0) {
    throw no_maximum(
        "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
        "'dim' argument.");
  }
  Tensor out = reduce(Kernel::max, x, reduced_shapes(x.sizes(), {}, false), x.dtype());
  record_max(out, x);
  return out;
}

Tensor max(const Tensor& x_in, int dim, bool keepdim) {
  const auto [x] = autocast("max", x_in);
  const int d = searched_dim("max", x, dim);
  const Shapes shapes = reduced_shapes(x.sizes(), {d}, keepdim);
  Tensor out = reduce(Kernel::max, x, shapes, x.dtype());
  if (x.dim() == 0)
    record_max(out, x);
  else
    record_max(out, x, d, shapes);
  return out;
}

Tensor argmax(const Tensor& x, int dim, bool keepdim) {
  const int d = searched_dim("argmax", x, dim);
  if (x.dim() == 0) return zeros({}, {kI64, x.device()});
  return reduce(Kernel::argmax, x, reduced_shapes(x.sizes(), {d}, keepdim), kI64, static_cast<std::uint64_t>(d));
}

Tensor norm(const Tensor& x_in) {
  const auto [x] = autocast("norm", x_in);
  if (!is_floating_point(impl_of(x).dtype)) {
    throw Error("dtype-mismatch",
                std::string("linalg.vector_norm: Expected a floating point or complex tensor as input. Got ") +
                    torch_type_name(x.dtype()),
                "the norm of integers is not an integer", "convert the tensor to f32 first");
  }
  Tensor out = reduce(Kernel::norm, x, reduced_shapes(x.sizes(), {}, false), x.dtype());
  graph::record("LinalgVectorNormBackward0", out, {&x}, [&](graph::Saver& save) {
    return [x = save(x), norm = save(out)](const Tensor& gradient, graph::Gradients& to) {
      const Tensor length = norm.get();
      to.give(0, mul(x.get(), masked_fill(div(gradient, length), eq(length, 0), 0)));  // 0 where the norm has a kink
    };
  });
  return out;
}

Tensor sum_to_size(const Tensor& x, const Dims& sizes) {
  if (impl_of(x).layout.sizes == sizes) return x;
  const int added = x.dim() - sizes.count();
  Shapes shapes{{}, sizes};
  for (int d = 0; d < x.dim(); ++d) shapes.kept.push_back(d < added ? 1 : sizes[d - added]);
  bool fits = added >= 0;
  for (int d = 0; fits && d < x.dim(); ++d) fits = shapes.kept[d] == 1 || shapes.kept[d] == x.size(d);
  if (!fits) {
    throw Error("shape-mismatch", "size {" + sizes.str() + "} is not expandable to size {" + x.sizes().str() + "}.",
                "only what was broadcast can be summed back: dimensions in front, and those of size 1",
                "check from which shape the tensor was broadcast");
  }
  return sum_of("SumBackward1", x, shapes);
}

}  // namespace labrig
