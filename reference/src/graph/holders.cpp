// Who keeps the blocks of a card alive. A block lives as long as a tensor in it: one that the program holds, the
// gradient of another, or one that a graph has saved for the way back. Such a graph in turn lives as long as a tensor
// that it leads back from, which is what the program must let go: the usual leak is a list of losses.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "device/registry.hpp"
#include "graph/meta.hpp"
#include "graph/node.hpp"
#include "labrig/memory.hpp"
#include "tensor/impl.hpp"

namespace labrig {
namespace {

using graph::Node;

std::string called(const TensorImpl& impl) {
  const std::string shape = name_of(impl.dtype) + impl.layout.sizes.str();
  return impl.name.empty() ? "a tensor " + shape : "'" + impl.name + "'";
}

class Holders {
 public:
  explicit Holders(DeviceSlot& slot) {
    slot.live().for_each([&](LiveLink& link) { here_.push_back(static_cast<TensorImpl*>(&link)); });
    live_on_host().for_each([&](LiveLink& link) { elsewhere_.push_back(static_cast<TensorImpl*>(&link)); });
    find_gradients();
    find_graphs();
  }

  std::vector<MemoryHolders> by_block() const {
    std::map<const Block*, MemoryHolders> blocks;
    for (const TensorImpl* impl : here_) {
      const Block* block = impl->storage->block();
      if (!block) continue;
      MemoryHolders& entry = blocks[block];
      if (entry.holders.empty()) entry = {block->address, block->bytes, impl->name, {}};
      entry.holders.push_back(role_of(impl));
    }
    std::vector<MemoryHolders> result;
    for (auto& [block, entry] : blocks) result.push_back(std::move(entry));
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
    return result;
  }

 private:
  template <class Visit>
  void for_each_tensor(Visit&& visit) const {
    for (const TensorImpl* impl : here_) visit(impl);
    for (const TensorImpl* impl : elsewhere_) visit(impl);
  }

  void find_gradients() {
    for_each_tensor([&](const TensorImpl* impl) {
      if (impl->meta && impl->meta->grad.defined()) gradient_of_[impl->meta->grad.impl().get()] = called(*impl);
    });
  }

  // A graph is named after the tensor at its end: the one whose step no other tensor's way back passes.
  void find_graphs() {
    std::unordered_set<const Node*> behind;
    for_each_tensor([&](const TensorImpl* impl) {
      if (!impl->meta || !impl->meta->node) return;
      for (const auto& input : impl->meta->node->inputs()) walk(input.get(), behind);
    });
    for_each_tensor([&](const TensorImpl* impl) {
      if (!impl->meta || !impl->meta->node || behind.count(impl->meta->node.get())) return;
      std::unordered_set<const Node*> graph;
      walk(impl->meta->node.get(), graph);
      for (const Node* node : graph) {
        for (const TensorImpl* saved : node->saved().tensors()) {
          std::string& names = graphs_of_[saved];
          names += (names.empty() ? "" : ", ") + called(*impl);
        }
      }
    });
  }

  static void walk(const Node* from, std::unordered_set<const Node*>& seen) {
    std::vector<const Node*> todo{from};
    while (!todo.empty()) {
      const Node* node = todo.back();
      todo.pop_back();
      if (!node || !seen.insert(node).second) continue;
      for (const auto& input : node->inputs()) todo.push_back(input.get());
    }
  }

  std::string role_of(const TensorImpl* impl) const {
    if (const auto owner = gradient_of_.find(impl); owner != gradient_of_.end()) return "gradient of " + owner->second;
    if (!impl->saved_by)
      return (impl->name.empty() ? "" : "tensor ") + called(*impl) +
             (impl->name.empty() ? "" : std::string(" ") + name_of(impl->dtype) + impl->layout.sizes.str());
    const auto graphs = graphs_of_.find(impl);
    return std::string("saved for backward by ") + impl->saved_by +
           (graphs == graphs_of_.end() ? "" : " in the graph of " + graphs->second);
  }

  std::vector<const TensorImpl*> here_, elsewhere_;
  // Looked up, never iterated.
  std::unordered_map<const TensorImpl*, std::string> gradient_of_, graphs_of_;
};

}  // namespace

std::vector<MemoryHolders> memory_holders(Device device) {
  const auto slot = open_slot(device);
  return slot && !device.is_cpu() ? Holders(*slot).by_block() : std::vector<MemoryHolders>{};
}

}  // namespace labrig
