// Reading JSON. Damaged values are left out and named; a text nested deeper than any of ours is refused.
#include "triage/json_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "triage/history_json.hpp"
#include "triage/readings.hpp"
#include "triage/scales.hpp"
#include "triage/snapshot.hpp"
#include "triage/summary.hpp"

namespace labrig::triage {
namespace {

using nlohmann::json;

constexpr int kDeepest = 64;
constexpr std::size_t kMostUnread = 20;

double number_of(const json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? value : 0;
}
std::string text_of(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
const json& list_of(const json& object, const char* key) {
  static const json kNone = json::array();
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNone;
}

// --- snapshots ------------------------------------------------------------------------------------------------------

// "train.py:42 forward", of the first frame that is not PyTorch's own.
std::string frame_of(const json& block) {
  const json* frames = &list_of(block, "frames");
  if (frames->empty() && block.contains("history")) {  // older snapshots
    const json& history = list_of(block, "history");
    if (!history.empty()) frames = &list_of(history.front(), "frames");
  }
  const json* chosen = nullptr;
  for (const json& frame : *frames) {
    const std::string file = text_of(frame, "filename");
    if (!chosen) chosen = &frame;
    if (file.empty() || file == "??" || file.find("/torch/") != std::string::npos || !file.ends_with(".py")) continue;
    chosen = &frame;
    break;
  }
  if (!chosen) return "";
  return fmt::format("{}:{:.0f} {}", text_of(*chosen, "filename"), number_of(*chosen, "line"),
                     text_of(*chosen, "name"));
}

Snapshot snapshot_of(const json& all) {
  Snapshot snapshot;
  for (const json& segment : list_of(all, "segments")) {
    if (!segment.is_object()) {
      if (snapshot.unread.size() < kMostUnread) snapshot.unread.push_back("a segment that is no object");
      continue;
    }
    SnapshotSegment& to = snapshot.segments.emplace_back();
    to.device = static_cast<int>(std::min(number_of(segment, "device"), 1023.0));
    to.bytes = number_of(segment, "total_size");
    for (const json& block : list_of(segment, "blocks"))
      if (block.is_object()) to.blocks.push_back({number_of(block, "size"), text_of(block, "state"), frame_of(block)});
    if (to.blocks.empty() && snapshot.unread.size() < kMostUnread)
      snapshot.unread.push_back("the blocks of a segment: it has none");
  }
  const json& traces = list_of(all, "device_traces");
  for (std::size_t i = 0; i < std::min<std::size_t>(traces.size(), 1024); ++i) {
    std::vector<SnapshotEvent>& events = snapshot.events.emplace_back();
    if (!traces[i].is_array()) continue;
    for (const json& event : traces[i])
      if (event.is_object())
        events.push_back({text_of(event, "action"), number_of(event, "size"), number_of(event, "device_free")});
  }
  if (all.contains("allocator_settings"))
    snapshot.settings = text_of(all["allocator_settings"], "PYTORCH_CUDA_ALLOC_CONF");
  return snapshot;
}

// --- statistics ----------------------------------------------------------------------------------------------

// memory_stats(): "allocated_bytes.all.current", flat or nested.
std::optional<Summary> summary_of(const json& all) {
  const auto find = [&all](const std::string& key) -> std::optional<double> {
    if (const auto flat = all.find(key); flat != all.end() && flat->is_number()) return flat->get<double>();
    const json* at = &all;
    for (std::size_t start = 0; start <= key.size();) {
      const std::size_t end = std::min(key.find('.', start), key.size());
      if (!at->is_object()) return std::nullopt;
      const auto next = at->find(key.substr(start, end - start));
      if (next == at->end()) return std::nullopt;
      at = &*next;
      start = end + 1;
    }
    return at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
  };
  Summary summary;
  for (const auto& [stat, row] : {std::pair{"allocated_bytes", "allocated memory"},
                                  {"reserved_bytes", "gpu reserved memory"},
                                  {"inactive_split_bytes", "non-releasable memory"}}) {
    const auto current = find(std::string(stat) + ".all.current"), peak = find(std::string(stat) + ".all.peak");
    if (!current || *current < 0) continue;
    summary.rows[row].current = exactly(*current);
    if (peak && *peak >= 0) summary.rows[row].peak = exactly(*peak);
  }
  if (summary.rows.empty()) return std::nullopt;
  if (const auto ooms = find("num_ooms")) summary.ooms = static_cast<std::int64_t>(std::min(*ooms, 1e15));
  if (const auto retries = find("num_alloc_retries"))
    summary.retries = static_cast<std::int64_t>(std::min(*retries, 1e15));
  return summary;
}

// --- lists ----------------------------------------------------------------------------------------------------------

bool mostly_numbers(const json& list) {
  if (!list.is_array() || list.empty()) return false;
  const auto numbers = std::count_if(list.begin(), list.end(), [](const json& v) { return v.is_number(); });
  return 2 * static_cast<std::size_t>(numbers) > list.size();
}

ScaleLog scales_of(const std::string& name, const json& list) {
  ScaleLog log;
  log.name = name;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_number() && list[i].get<double>() >= 0)
      log.scales.push_back(list[i].get<double>());
    else if (log.unread.size() < kMostUnread)
      log.unread.push_back(fmt::format("entry {}: {} is no scale", i,
                                       list[i].dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40)));
  }
  return log;
}

// A scaler multiplies by powers of two: other numbers are something else.
bool looks_like_scales(const ScaleLog& log) {
  std::size_t changes = 0, powers = 0;
  for (std::size_t i = 1; i < log.scales.size(); ++i) {
    if (log.scales[i] == log.scales[i - 1]) continue;
    ++changes;
    const double ratio = std::log2(log.scales[i] / log.scales[i - 1]);
    powers += !std::isfinite(ratio) || std::abs(ratio - std::round(ratio)) < 1e-6;
  }
  return !log.scales.empty() && log.scales.front() > 0 && 10 * powers >= 8 * changes;
}

// Lists of one length with the names of sizes, or a list of objects, as a table.
std::string cell(const json& value) {
  if (value.is_number()) return value.dump();
  return value.is_string() ? "\"" + value.get<std::string>() + "\"" : "";
}
std::string table_of(const json& all) {
  std::vector<std::string> names;
  const json& first = all.is_array() ? all.front() : all;
  for (const auto& [name, value] : first.items()) names.push_back(name);
  std::string csv = fmt::format("{}\n", fmt::join(names, ","));
  std::size_t rows = all.size();
  if (all.is_object())
    for (const std::string& name : names)
      rows = std::max<std::size_t>(name == names.front() ? 0 : rows, all[name].size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const json* value = nullptr;
      if (all.is_array()) {
        if (all[row].is_object() && all[row].contains(names[i])) value = &all[row][names[i]];
      } else if (row < all[names[i]].size()) {
        value = &all[names[i]][row];
      }
      csv += (i > 0 ? "," : "") + (value ? cell(*value) : std::string());
    }
    csv += '\n';
  }
  return csv;
}

std::optional<Diagnosis> of_lists(const json& all) {
  const bool is_object_of_lists = all.is_object() && !all.empty() &&
                                  std::all_of(all.begin(), all.end(), [](const json& v) { return v.is_array(); });
  const bool is_list_of_objects = all.is_array() && !all.empty() && all.front().is_object();
  if (is_object_of_lists || is_list_of_objects)
    if (const auto readings = read_readings(table_of(all))) return diagnose(*readings);
  std::vector<ScaleLog> logs;
  std::vector<std::string> unread;
  if (mostly_numbers(all)) {
    logs.push_back(scales_of("", all));
  } else if (all.is_object()) {
    for (const auto& [name, value] : all.items()) {
      if (mostly_numbers(value))
        logs.push_back(scales_of(name, value));
      else if (value.is_array() && unread.size() < kMostUnread)
        unread.push_back("\"" + name.substr(0, 60) + "\": not a list of numbers");
    }
  } else if (is_list_of_objects) {
    for (const char* name : {"scale", "loss_scale", "grad_scale"}) {
      json list = json::array();
      for (const json& entry : all)
        if (entry.is_object() && entry.contains(name)) list.push_back(entry[name]);
      if (mostly_numbers(list)) logs.push_back(scales_of(name, list));
    }
  }
  std::erase_if(logs, [](const ScaleLog& log) { return log.scales.empty() || !looks_like_scales(log); });
  if (logs.empty()) return std::nullopt;
  Diagnosis d = diagnose(logs);
  d.unread.insert(d.unread.end(), unread.begin(), unread.end());
  return d;
}

void collect_strings(const json& value, std::string& strings) {
  if (value.is_string()) {
    strings += value.get<std::string>() + "\n";
  } else if (value.is_structured()) {
    for (const json& part : value) collect_strings(part, strings);
  }
}

std::optional<Result<Diagnosis>> diagnosis_of(const json& all) {
  if (all.is_object() &&
      (text_of(all, "schema").starts_with("labrig.history/") || (all.contains("rows") && all.contains("card")))) {
    Result<MemoryHistory> history = history_from(all);
    if (!history.ok()) return Result<Diagnosis>(history.error());
    try {
      return Result<Diagnosis>(diagnose(history.value()));
    } catch (const Error& error) {
      return Result<Diagnosis>(error);
    }
  }
  if (all.is_object() && (all.contains("segments") || all.contains("device_traces")))
    return Result<Diagnosis>(diagnose(snapshot_of(all)));
  // The oldest snapshots are the list of segments alone.
  if (all.is_array() && !all.empty() && all.front().is_object() && all.front().contains("blocks"))
    return Result<Diagnosis>(diagnose(snapshot_of({{"segments", all}})));
  if (all.is_object())
    if (const auto summary = summary_of(all)) return Result<Diagnosis>(diagnose(*summary));
  if (auto lists = of_lists(all)) return Result<Diagnosis>(std::move(*lists));
  return std::nullopt;
}

// "[json.exception.parse_error.101] parse error at line 2 …" without the name of the exception.
std::string plain(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return text.starts_with("[json.exception") && end != std::string::npos ? text.substr(end + 2) : text;
}

}  // namespace

JsonInput read_json(std::string_view text) {
  JsonInput input;
  bool too_deep = false;
  const auto watch = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kDeepest;
    return depth <= kDeepest;
  };
  json all;
  try {
    all = json::parse(text, watch);
  } catch (const json::parse_error& error) {
    input.error = plain(error);
    // One object a line.
    all = json::array();
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      json line = json::parse(text.substr(start, end - start), watch, false);
      if (line.is_object()) all.push_back(std::move(line));
      start = end + 1;
    }
    if (all.size() < 2) return input;
  } catch (const json::exception& error) {  // a number that no type holds
    input.error = plain(error);
    return input;
  }
  input.is_json = true;
  if (too_deep) {
    input.error = fmt::format("it is nested deeper than {} levels", kDeepest);
    return input;
  }
  input.diagnosis = diagnosis_of(all);
  if (!input.diagnosis) collect_strings(all, input.strings);
  return input;
}

}  // namespace labrig::triage
