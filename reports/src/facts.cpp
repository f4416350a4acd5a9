#include "facts.hpp"

#include <map>

namespace labrig::reports {

std::string_view fact_text(std::string_view id) {
  static const std::map<std::string_view, std::string_view> facts = {
      {"F1", "a GPU is wide, not fast: it wins on much independent arithmetic"},
      {"F2", "arithmetic and memory bandwidth are two ceilings; elementwise work meets the second"},
      {"F3", "capacity decides whether it runs at all"},
      {"F4", "tiny tensors lose: a launch costs more than their arithmetic"},
      {"F5", "round trips lose: every move crosses the bus"},
      {"F6", "reading a value on the host drains the card's queue"},
      {"F7", "small, branchy or oversized work is not worth moving"},
      {"F8", "four ways to move a tensor; creating it on the device is one"},
      {"F9", "to() returns a new tensor and leaves the old one alone"},
      {"F10", "Module::to changes the module in place"},
      {"F11", "create-then-move holds two copies for a moment"},
      {"F12", "a product can take less time than the fetch of its result"},
      {"F13", "the bus is one to two orders slower than the card's memory"},
      {"F14", "the copy engine reaches pinned memory only; pageable memory is staged"},
      {"F15", "non_blocking is asynchronous from pinned memory only"},
      {"F16", "a buffer in flight must not be changed or read before the wait"},
      {"F17", "pinned memory is taken from everyone"},
      {"F18", "pinned and non_blocking help only where loading is the bottleneck"},
      {"F19", "reading right after an asynchronous copy throws the gain away"},
      {"F20", "to(device, dtype) may build an intermediate; the order changes the bytes"},
      {"F21", "some kernels silently make a contiguous copy"},
      {"F22", "view needs fitting strides; reshape and contiguous copy"},
      {"F23", "wrapping an array shares its memory, constructing from it copies"},
      {"F24", "choose the device once, at the entrance, and pass it down"},
      {"F25", "a bare \"cuda\" goes to the current device: number it"},
      {"F26", "a device mismatch is mended up the data flow, not where it failed"},
      {"F27", "most mismatches: the model moved, the data did not"},
      {"F28", "print device and dtype of every operand before the failing line"},
      {"F29", "map_location says where a checkpoint's tensors go"},
      {"F30", "an optimizer updates the parameters it was given, not their successors"},
      {"F31", "a check at start-up catches \"it was on the CPU all along\""},
      {"F32", "check that there is a device, its name and its memory"},
      {"F33", "bytes are elements times element size"},
      {"F34", "Adam in f32 holds four times the parameters"},
      {"F35", "activations grow with the batch and are kept for backward"},
      {"F36", "reserved far above allocated is caching, not a leak"},
      {"F37", "allocated that rises step after step is a leak"},
      {"F38", "empty_cache does not help an out-of-memory, and slows a loop"},
      {"F39", "fragmentation: enough is free, but no block is large enough"},
      {"F40", "a list of losses keeps every step's graph"},
      {"F41", "max_memory_allocated bounds the peak of a step"},
      {"F42", "out of memory has an order of questions; the batch comes last"},
      {"F43", "no_grad in evaluation frees the graph's memory at once"},
      {"F44", "f16 has a narrow range, bf16 fewer digits"},
      {"F45", "autocast decides per operator; master weights stay f32"},
      {"F46", "the scaler skips a step on inf and backs off"},
      {"F47", "many skipped steps early on: the initial scale is too high"},
      {"F48", "compare the loss curve with f32's"},
      {"F49", "some type problems show on the device only"},
      {"F50", "tf32 trades digits for speed: decide by A/B runs"},
      {"F51", "warm up, synchronise, take the median"},
      {"F52", "device events beat host clocks"},
      {"F53", "measure pure compute and end to end apart"},
      {"F54", "a CPU baseline must say its thread count"},
  };
  const auto found = facts.find(id);
  return found == facts.end() ? std::string_view() : found->second;
}

}  // namespace labrig::reports
