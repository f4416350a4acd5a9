// Dropout. Which elements are dropped follows from a seed and an offset, so that the way back draws the same ones
// again: no mask is kept.
#include <sstream>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "labrig/random.hpp"
#include "ops/operands.hpp"

namespace labrig {
namespace {

struct Draw {
  double p;
  std::uint64_t seed, offset;
};

Tensor dropped(const Tensor& x, const Draw& draw) {
  Tensor out = make_tensor(x.sizes(), {x.dtype(), x.device()}, "dropout");
  run(Kernel::dropout, {&out, &x}, {scalar_bits(draw.p), draw.seed, draw.offset});
  return out;
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) {
  impl_of(x);
  if (!(p >= 0 && p <= 1)) {
    std::ostringstream text;
    text << "dropout probability has to be between 0 and 1, but got " << p;
    throw Error("invalid-argument", text.str(), "p is the part of the elements that become 0",
                "pass a probability, such as 0.1");
  }
  if (!training || p == 0 || x.numel() == 0) return x;
  check_can_cast(kF32, x.dtype());
  Generator& generator = default_generator();
  const Draw draw{p, generator.seed, generator.take(x.numel())};
  Tensor out = dropped(x, draw);
  graph::record("NativeDropoutBackward0", out, {&x}, [&](graph::Saver&) {
    return [draw](const Tensor& gradient, graph::Gradients& to) { to.give(0, dropped(gradient, draw)); };
  });
  return out;
}

}  // namespace labrig
