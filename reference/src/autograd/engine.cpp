// The backward pass: from the outputs to the leaves, each node once, after all that lead to it. Of the nodes that are
// ready the youngest comes first, and a leaf before all others, so that gradients live as short as they can. Between
// two nodes a gradient has no other holder than the buffer of the node that it waits for.
#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>

#include "autograd/accumulate.hpp"
#include "device/thread_state.hpp"
#include "graph/meta.hpp"
#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::autograd {
namespace {

using graph::Gradients;
using graph::Node;
using NodePtr = std::shared_ptr<Node>;

// Nothing that runs in backward() notes a way back, and no autocast region reaches into it.
class BackwardMode {
 public:
  BackwardMode() : autocast_(std::exchange(thread_state().autocast, nullptr)) {}
  ~BackwardMode() { thread_state().autocast = autocast_; }
  BackwardMode(const BackwardMode&) = delete;
  BackwardMode& operator=(const BackwardMode&) = delete;

 private:
  AutocastRules* autocast_;
  NoGradGuard no_grad_;
};

// The stream of a node, current for a scope; nothing to do on the host, or where it is current already.
class NodeStream {
 public:
  explicit NodeStream(const Node& node) {
    const Device device = node.device();
    if (device.is_cpu()) return;
    if (current_device(device.type()) == device.index() && current_stream_id(device) == node.stream()) return;
    guard_.emplace(Stream(device, node.stream()));
  }

 private:
  std::optional<StreamGuard> guard_;
};

// One walk through the part of the graph that the outputs reach.
class Walk {
 public:
  explicit Walk(bool retain_graph) : retain_graph_(retain_graph) {}

  // The gradients of these are kept for captured() and added nowhere; nothing that does not lead to one of them runs.
  void capture(const NodePtr& node) { captured_[node.get()]; }
  Tensor captured(const NodePtr& node) const { return captured_.at(node.get()); }

  void run(const std::vector<NodePtr>& roots, std::vector<Tensor> gradients) {
    explore(roots);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      deliver(*roots[i], fitted(std::move(gradients[i]), *roots[i], "backward", i));
    }
    while (!ready_.empty()) {
      Node& node = *ready_.top().node;
      ready_.pop();
      step(node);
    }
    for (const Stream stream : result_streams_) {
      const Stream current = current_stream(stream.device());
      if (current != stream) current.wait_stream(stream);
    }
  }

 private:
  struct Task {
    int awaited = 0;     // gradients that are still to arrive
    bool needed = true;  // leads to something that is asked for
    Tensor gradient;
  };
  struct Ready {
    std::uint64_t priority;
    Node* node;
    bool operator<(const Ready& other) const { return priority < other.priority; }
  };

  // Which nodes there are, and how many gradients each will get.
  void explore(const std::vector<NodePtr>& roots) {
    std::vector<Node*> found;
    const auto meet = [&](const NodePtr& node) {
      const auto [at, is_new] = tasks_.try_emplace(node.get());
      ++at->second.awaited;
      if (is_new) found.push_back(node.get());
    };
    for (const NodePtr& root : roots) meet(root);
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const NodePtr& input : found[i]->inputs()) {
        if (input) meet(input);
      }
    }
    if (!captured_.empty()) find_needed(std::move(found));
  }

  // A node has a higher number than those that it leads to, so these are decided before it.
  void find_needed(std::vector<Node*> nodes) {
    std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->sequence() < b->sequence(); });
    for (Node* node : nodes) tasks_.at(node).needed = captured_.count(node) > 0 || leads_on(*node);
  }

  bool leads_on(const Node& node) const {
    for (const NodePtr& input : node.inputs()) {
      if (input && tasks_.at(input.get()).needed) return true;
    }
    return false;
  }

  // Called with the stream current that the gradient was made in.
  void deliver(Node& node, Tensor gradient) {
    Task& task = tasks_.at(&node);
    if (!task.needed) return;
    if (gradient.defined()) add_between_streams(node, task, std::move(gradient));
    if (--task.awaited == 0) ready_.push({node.is_accumulator() ? UINT64_MAX : node.sequence(), &node});
  }

  void add_between_streams(const Node& node, Task& task, Tensor gradient) {
    const Device device = gradient.device();
    if (!device.is_cpu() && current_stream_id(device) != node.stream()) {
      const Stream consumer(device, node.stream());
      consumer.wait_stream(current_stream(device));
      gradient.record_stream(consumer);
    }
    const NodeStream guard(node);
    if (task.gradient.defined())
      add_to(task.gradient, gradient);
    else
      task.gradient = std::move(gradient);
  }

  void step(Node& node) {
    Tensor gradient = std::move(tasks_.at(&node).gradient);
    const NodeStream guard(node);
    if (gradient.defined()) retain(node, gradient);
    const auto capture = captured_.find(&node);
    if (capture != captured_.end()) {
      capture->second = gradient;
      note_result(node);
      if (!leads_on(node)) return;
    }
    Gradients to(wanted_of(node));
    if (gradient.defined()) node.run(gradient, to);
    gradient = {};
    if (!retain_graph_) node.release();
    if (node.is_accumulator()) return note_result(node);
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const NodePtr& input = node.inputs()[i];
      if (!input) continue;
      Tensor& given = to.all()[i];
      deliver(*input, given.defined() ? fitted(std::move(given), *input, node.name(), i) : Tensor());
    }
  }

  std::vector<bool> wanted_of(const Node& node) const {
    std::vector<bool> wanted;
    wanted.reserve(node.inputs().size());
    for (const NodePtr& input : node.inputs()) {
      wanted.push_back(input && (captured_.empty() || tasks_.at(input.get()).needed));
    }
    return wanted;
  }

  static void retain(const Node& node, const Tensor& gradient) {
    const auto meta = node.retained().lock();
    if (!meta) return;
    meta->grad = meta->grad.defined() ? add(meta->grad, gradient) : gradient.clone();
  }

  // The caller's stream waits at the end for the streams in which results were made.
  void note_result(const Node& node) {
    if (node.device().is_cpu()) return;
    const Stream stream(node.device(), node.stream());
    for (const Stream known : result_streams_) {
      if (known == stream) return;
    }
    result_streams_.push_back(stream);
  }

  const bool retain_graph_;
  std::unordered_map<const Node*, Task> tasks_;  // never iterated: its order is not ours
  std::unordered_map<const Node*, Tensor> captured_;
  std::priority_queue<Ready> ready_;
  std::vector<Stream> result_streams_;
};

std::string torch_size(const Dims& sizes) { return "torch.Size(" + sizes.str() + ")"; }

NodePtr root_of(const Tensor& output, std::size_t i) {
  NodePtr node = graph::edge_of(output);
  if (node) return node;
  throw Error("no-gradient",
              "element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn",
              "nothing that it was computed from requires a gradient, or it was computed under a NoGradGuard",
              "requires_grad_() on what is to be learnt, before the forward pass");
}

Tensor root_gradient(const Tensor& output, const Tensor& given, std::size_t i) {
  if (given.defined()) {
    if (given.sizes() == output.sizes()) return given;
    const std::string at = "[" + std::to_string(i) + "] has a shape of ";
    throw Error("invalid-gradient",
                "Mismatch in shape: grad_output" + at + torch_size(given.sizes()) + " and output" + at +
                    torch_size(output.sizes()) + ".",
                "a gradient has one number for each of its tensor", "pass a gradient of shape " + output.sizes().str());
  }
  if (output.numel() == 1) return ones(output.sizes(), {output.dtype(), output.device()});
  throw Error("not-a-scalar", "grad can be implicitly created only for scalar outputs",
              "backward() starts from one number; this tensor has shape " + output.sizes().str(),
              "reduce it first, as sum(x).backward(), or pass a gradient of its shape");
}

void run(Walk& walk, const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients) {
  if (!gradients.empty() && gradients.size() != outputs.size()) {
    throw Error(
        "invalid-gradient",
        "got " + std::to_string(outputs.size()) + " tensors and " + std::to_string(gradients.size()) + " gradients",
        "each output takes one gradient", "pass as many gradients as outputs, or none");
  }
  std::vector<NodePtr> roots;
  std::vector<Tensor> first;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    roots.push_back(root_of(outputs[i], i));
    first.push_back(root_gradient(outputs[i], gradients.empty() ? Tensor() : gradients[i], i));
  }
  walk.run(roots, std::move(first));
}

Error unused() {
  return Error("unused-input",
               "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
               "this is the desired behavior.",
               "no way leads from the outputs to it, so its gradient is not a number but nothing",
               "pass allow_unused = true for an undefined tensor in its place");
}

}  // namespace

void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients, bool retain_graph) {
  const BackwardMode mode;
  Walk walk(retain_graph);
  run(walk, outputs, gradients);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& gradients, bool retain_graph, bool allow_unused) {
  const BackwardMode mode;
  Walk walk(retain_graph);
  std::vector<NodePtr> wanted;
  for (const Tensor& input : inputs) {
    wanted.push_back(graph::edge_of(input));
    if (!wanted.back()) {
      throw Error("no-gradient", "One of the differentiated Tensors does not require grad",
                  "a gradient is known only for what required one before the forward pass",
                  "requires_grad_() on the input, then do the forward pass");
    }
    walk.capture(wanted.back());
  }
  run(walk, outputs, gradients);
  std::vector<Tensor> result;
  for (const NodePtr& node : wanted) {
    result.push_back(walk.captured(node));
    if (!result.back().defined() && !allow_unused) throw unused();
  }
  return result;
}

}  // namespace labrig::autograd
