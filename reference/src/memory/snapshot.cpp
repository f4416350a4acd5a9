#include "memory/snapshot.hpp"

#include <nlohmann/json.hpp>

namespace labrig {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(MemoryAction action) {
  static constexpr const char* kNames[] = {"alloc",         "free_requested", "free_completed",
                                           "segment_alloc", "segment_free",   "segment_map",
                                           "segment_unmap", "snapshot",       "oom"};
  return kNames[static_cast<int>(action)];
}

Json block_json(const MemorySnapshot::BlockInfo& block) {
  const char* state = block.allocated ? "active_allocated" : block.active ? "active_awaiting_free" : "inactive";
  return {{"address", block.address},
          {"size", block.bytes},
          {"requested_size", block.requested_bytes},
          {"state", state},
          {"frames", Json::array()}};
}

Json segment_json(const MemorySnapshot::Segment& segment, int device_index) {
  Json blocks = Json::array();
  for (const auto& block : segment.blocks) blocks.push_back(block_json(block));
  return {{"device", device_index},
          {"address", segment.address},
          {"total_size", segment.bytes},
          {"allocated_size", segment.allocated_bytes},
          {"active_size", segment.active_bytes},
          {"requested_size", segment.requested_bytes},
          {"stream", segment.stream},
          {"segment_type", segment.small ? "small" : "large"},
          {"segment_pool_id", {0, 0}},
          {"is_expandable", segment.expandable},
          {"frames", Json::array()},
          {"blocks", std::move(blocks)}};
}

Json event_json(const MemoryEvent& event) {
  return {{"action", name_of(event.action)},
          {event.action == MemoryAction::oom ? "device_free" : "addr", event.address},
          {"size", event.bytes},
          {"stream", event.stream},
          {"time_us", event.number},
          {"compile_context", "N/A"},
          {"user_metadata", ""},
          {"frames", Json::array()}};
}

Json settings_json(const AllocatorSettings& settings) {
  Json divisions = Json::object();
  for (std::size_t i = 0; i < settings.divisions.size(); ++i) {
    divisions[std::to_string(std::size_t{1} << i)] = settings.divisions[i];
  }
  return {{"PYTORCH_CUDA_ALLOC_CONF", settings.text},
          {"max_split_size", settings.has_split_limit() ? static_cast<std::int64_t>(settings.max_split_bytes) : -1},
          {"garbage_collection_threshold", settings.garbage_collection_threshold},
          {"expandable_segments", settings.expandable_segments},
          {"pinned_num_register_threads", settings.pinned.num_register_threads},
          {"release_lock_on_cudamalloc", settings.release_lock_on_cudamalloc},
          {"pinned_use_cuda_host_register", settings.pinned.use_cuda_host_register},
          {"roundup_power2_divisions", std::move(divisions)}};
}

}  // namespace

std::string to_json(const MemorySnapshot& snapshot) {
  Json segments = Json::array(), events = Json::array();
  for (const auto& segment : snapshot.segments) segments.push_back(segment_json(segment, snapshot.device_index));
  for (const auto& event : snapshot.events) events.push_back(event_json(event));
  // One list a device: those of lower numbers stay empty here.
  Json traces = Json::array();
  for (int i = 0; i < snapshot.device_index; ++i) traces.push_back(Json::array());
  traces.push_back(std::move(events));
  const Json all = {{"segments", std::move(segments)},
                    {"device_traces", std::move(traces)},
                    {"allocator_settings", settings_json(snapshot.settings)},
                    {"external_annotations", Json::array()}};
  return all.dump(1);
}

}  // namespace labrig
