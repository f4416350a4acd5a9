// Changes in place, and what they mean to views. A view and its base are one memory, so a change through one is a
// change of the other:
//
//   y = x * 2        y.grad_fn: MulBackward0
//   v = y[0]         v.grad_fn: SelectBackward0 -> MulBackward0
//   v.exp_()         y.grad_fn: CopySlices (the part v through ExpBackward0, the rest as it is) -> MulBackward0
//                    v.grad_fn: AsStridedBackward0 -> CopySlices, made when somebody asks next
//
// As in PyTorch, which calls it rebasing the history of the view.
#include "graph/meta.hpp"
#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "tensor/impl.hpp"

namespace labrig::graph {
namespace {

using trace::Cause;

// Where a view lies in its base, both counted from the first element of the base.
struct Place {
  Layout base, view;
  Place(const Tensor& in, const Tensor& part) : base(in.layout()), view(part.layout()) {
    view.offset -= base.offset;
    base.offset = 0;
  }
};

// New memory for a gradient of the base, laid out as that is, so that the view's layout finds its part in it.
Tensor like_base(const Place& place, const Tensor& gradient) {
  return make_strided(place.base, {gradient.dtype(), gradient.device()}, gradient.name());
}

// A view may show an element many times (expand); its gradient is then the sum.
Tensor base_gradient(const Place& place, const Tensor& gradient) {
  Layout shown = place.view;
  Dims summed = gradient.sizes();
  for (int d = 0; d < shown.dim(); ++d) {
    if (shown.strides[d] == 0 && shown.sizes[d] > 1) shown.sizes[d] = summed[d] = 1;
  }
  const Tensor whole = like_base(place, gradient);
  fill_values(whole, 0);
  copy_values(alias(whole, shown), sum_to_size(gradient, summed), true, Cause::asked);
  return whole;
}

bool shows_an_element_twice(const Layout& layout) { return layout.numel() > layout.span_elements(); }

// The inputs of an operator that changed `self`: which of them are self.
std::vector<bool> selves(const Tensor& self, std::span<const Tensor* const> inputs) {
  std::vector<bool> result;
  for (const Tensor* input : inputs) result.push_back(input->defined() && input->is_same(self));
  return result;
}

// The step of the base, when an operator with this way back changed the part `place.view` of it. Edge 0 leads to the
// base as it was before, the others are the operator's.
Backward copy_slices(const Place& place, std::vector<bool> is_self, Backward backward) {
  return [place, is_self = std::move(is_self), backward = std::move(backward)](const Tensor& gradient, Gradients& to) {
    const Tensor whole = like_base(place, gradient);
    copy_values(whole, gradient, true, Cause::asked);
    const Tensor part = alias(whole, place.view);
    std::vector<bool> wanted(is_self.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = to.wanted(is_self[i] ? 0 : static_cast<int>(i) + 1);
    Gradients inner(std::move(wanted));
    backward(part.clone(), inner);
    Tensor own;
    for (std::size_t i = 0; i < is_self.size(); ++i) {
      Tensor& given = inner.all()[i];
      if (!given.defined()) continue;
      if (is_self[i]) {
        own = own.defined() ? add(own, given) : given;
      } else {
        to.give(static_cast<int>(i) + 1, std::move(given));
      }
    }
    if (!to.wanted(0)) return;
    if (own.defined())
      copy_values(part, own, true, Cause::asked);
    else
      fill_values(part, 0);
    to.give(0, whole);
  };
}

}  // namespace

const std::shared_ptr<Node>& node_of(const Tensor& tensor) {
  static const std::shared_ptr<Node> none;
  if (!impl_of(tensor).meta) return none;
  Meta& meta = *tensor.impl()->meta;
  if (!meta.base.defined() || meta.version == tensor.version() || !meta.base.requires_grad()) return meta.node;
  meta.version = tensor.version();
  if (shows_an_element_twice(meta.base.layout())) return meta.node;
  const Place place(meta.base, tensor);
  set_node(tensor, std::make_shared<Node>(
                       "AsStridedBackward0", tensor, Edges{edge_of(meta.base)},
                       [place](const Tensor& gradient, Gradients& to) { to.give(0, base_gradient(place, gradient)); }));
  return meta.node;
}

void attach_in_place(const char* name, const Tensor& self, std::span<const Tensor* const> inputs, Edges edges,
                     Backward backward, SavedChain saved) {
  if (!is_floating_point(self.dtype())) return;
  const Tensor base = meta_of(self).base;
  if (!base.defined()) return attach(name, self, std::move(edges), std::move(backward), std::move(saved));
  std::vector<bool> is_self = selves(self, inputs);
  Edges all{edge_of(base)};
  for (std::size_t i = 0; i < edges.size(); ++i) all.push_back(is_self[i] ? nullptr : edges[i]);
  attach("CopySlices", base, std::move(all), copy_slices(Place(base, self), std::move(is_self), std::move(backward)),
         std::move(saved));
}

}  // namespace labrig::graph
