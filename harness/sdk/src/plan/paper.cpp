// Tensors on paper and the walk back through their graph. Read beside reference/src/autograd/engine.cpp: of the nodes
// that are ready the youngest comes first, and a parameter before all others; what a node keeps goes when it has run.
#include "plan/paper.hpp"

#include <queue>
#include <utility>

#include "labrig/error.hpp"

namespace labrig::plan {

PaperTensor PaperTensor::seen_as(const Dims& other) const {
  PaperTensor view = *this;
  view.sizes = other;
  view.node = nullptr;
  return view;
}

void Paper::leave_autocast() {
  inside_ = false;
  copies_.clear();
}

PaperTensor Paper::make(const Dims& sizes, Dtype dtype, const char* what) {
  return make(sizes, dtype, what, going_back_ ? Part::temporary : Part::activations);
}

PaperTensor Paper::make(const Dims& sizes, Dtype dtype, const char* what, Part part) {
  double bytes = static_cast<double>(element_bytes(dtype));
  for (const std::int64_t size : sizes) bytes *= static_cast<double>(size);
  if (bytes > 0x1p50)
    throw Error("bad-model", "a tensor of " + sizes.str() + " is larger than any card",
                std::string("it is the ") + what + " of a layer, with all samples of the batch",
                "check the sizes and the batch");
  PaperEntry entry;
  entry.part = part, entry.what = what, entry.sizes = sizes, entry.dtype = dtype;
  return {sizes, dtype, card_.allocate(std::move(entry)), nullptr, true};
}

PaperTensor Paper::cast(const PaperTensor& x, Dtype dtype, const char* what) {
  if (x.dtype == dtype) return x;
  PaperTensor copy = make(x.sizes, dtype, what);
  record(copy, {&x}, [this, dtype = x.dtype](const PaperTensor& gradient) -> PaperGradients {
    return {cast(gradient, dtype, "gradient")};
  });
  return copy;
}

PaperTensor Paper::weight(PaperParameter& parameter, Dtype dtype) {
  PaperTensor own = parameter.value;
  own.node = leaf_of(parameter);
  if (dtype == own.dtype) return own;
  PaperTensor& copy = copies_[&parameter];
  if (!copy.defined()) {
    copy = cast(own, dtype, "copy of a weight");
    copy.block->entry().part = Part::weight_copies;
  }
  return copy;
}

PaperTensor Paper::dense(const PaperTensor& x) { return x.dense ? x : make(x.sizes, x.dtype, "gradient"); }

std::shared_ptr<PaperNode> Paper::leaf_of(PaperParameter& parameter) {
  auto node = std::make_shared<PaperNode>();
  node->sequence = UINT64_MAX;
  node->dtype = parameter.value.dtype;
  node->row = card_.row();
  node->leaf = &parameter;
  return node;
}

PaperTensor Paper::keep(const PaperTensor& x) {
  x.block->entry().kept = true;
  return x.detached();
}

void Paper::record(PaperTensor& out, const std::vector<const PaperTensor*>& inputs, PaperBackward backward) {
  auto node = std::make_shared<PaperNode>();
  bool needed = false;
  for (const PaperTensor* input : inputs) {
    node->inputs.push_back(input->node);
    needed = needed || input->node != nullptr;
  }
  if (!needed || going_back_) return;
  node->sequence = next_sequence_++;
  node->dtype = out.dtype;
  node->row = card_.row();
  node->backward = std::move(backward);
  out.node = std::move(node);
}

// --- the way back ----------------------------------------------------------------------------------------------------

// The first gradient becomes the parameter's own; later ones are added in place.
void Paper::add_up(PaperParameter& leaf, const PaperTensor& gradient) {
  if (leaf.gradient.defined()) return;
  leaf.gradient = gradient.detached();
  leaf.gradient.block->entry().part = Part::gradients;
}

// In place where nobody else holds the sum.
void Paper::add_to(PaperTensor& sum, PaperTensor gradient) {
  if (!sum.defined())
    sum = std::move(gradient);
  else if (sum.block.use_count() != 1 || !sum.dense)
    sum = make(sum.sizes, sum.dtype, "gradient");
}

void Paper::backward(const PaperTensor& loss) {
  going_back_ = true;
  Tasks tasks;
  std::vector<PaperNode*> found;
  const auto meet = [&](PaperNode* node) {
    const auto [at, is_new] = tasks.try_emplace(node);
    ++at->second.awaited;
    if (is_new) found.push_back(node);
  };
  meet(loss.node.get());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const auto& input : found[i]->inputs)
      if (input) meet(input.get());

  const auto later = [](const PaperNode* a, const PaperNode* b) { return a->sequence < b->sequence; };
  std::priority_queue<PaperNode*, std::vector<PaperNode*>, decltype(later)> ready(later);
  const auto deliver = [&](PaperNode& node, PaperTensor gradient) {
    Task& task = tasks.at(&node);
    if (gradient.dtype != node.dtype) gradient = cast(gradient, node.dtype, "gradient");
    add_to(task.gradient, std::move(gradient));
    if (--task.awaited == 0) ready.push(&node);
  };
  deliver(*loss.node, make(loss.sizes, loss.dtype, "gradient"));
  while (!ready.empty()) {
    PaperNode& node = *ready.top();
    ready.pop();
    card_.set_moment("backward of", node.row);
    PaperTensor gradient = std::move(tasks.at(&node).gradient);
    if (node.leaf != nullptr) {
      add_up(*node.leaf, gradient);
      continue;
    }
    PaperGradients given = node.backward(gradient);
    gradient = {};
    node.backward = nullptr;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i]) deliver(*node.inputs[i], std::move(given[i]));
  }
  going_back_ = false;
}

}  // namespace labrig::plan
