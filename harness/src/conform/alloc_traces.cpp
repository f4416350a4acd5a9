// First the document is read into traces, with an error for whatever is not of the form; then each trace is replayed.
#include "conform/alloc_traces.hpp"

#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "conform/recorded_driver.hpp"
#include "conform/value.hpp"
#include "memory/caching_allocator.hpp"

namespace labrig::conform {
namespace {

struct Operation {
  std::string text;  // as it is in the file
  std::string action;
  std::string id;
  std::size_t bytes = 0;
  std::uint16_t stream = 0;
  std::vector<std::int64_t> expected;  // in the order of the keys
};

struct Trace {
  std::string name;
  std::vector<std::string> keys;
  std::optional<std::size_t> cap_bytes;
  AllocatorSettings settings;
  std::vector<std::int64_t> base;
  std::vector<Operation> operations;
  std::optional<std::vector<LogEvent>> log;
};

// --- reading ---------------------------------------------------------------------------------------------------------

using Unknown = std::set<std::string>;

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> result;
  for (const Value& item : list.items()) result.push_back(item.text());
  return result;
}

std::vector<std::int64_t> one_each(const Value& list, std::size_t keys) {
  std::vector<std::int64_t> result = list.wholes();
  if (result.size() != keys) {
    list.fail("has " + std::to_string(result.size()) + " entries, and there are " + std::to_string(keys) + " keys");
  }
  return result;
}

std::uint64_t bytes_of(const Value& value) { return value.whole_below(std::numeric_limits<std::uint64_t>::max()); }
std::uint16_t stream_of(const Value& value) { return static_cast<std::uint16_t>(value.whole_below(1 << 16)); }

std::string name_of(std::size_t index, const Value& trace) {
  std::string about;
  for (const char* key : {"name", "kind", "seed", "streams", "settings"}) {
    const nlohmann::json& all = trace.json();
    if (!all.contains(key)) continue;
    const nlohmann::json& part = all[key];
    about += (about.empty() ? "" : ", ") + std::string(key) + " " +
             (part.is_string() ? part.get<std::string>() : part.dump());
  }
  return "trace " + std::to_string(index) + (about.empty() ? "" : " (" + about + ")");
}

AllocatorSettings settings_of(const Value& value) {
  try {
    return parse_allocator_settings(value.text());
  } catch (const Error& error) {
    if (error.code() == "bad-file") throw;
    value.fail(std::string("is not usable: ") + error.what());
  }
}

// `live`: the blocks that are allocated at this point.
Operation read_operation(const Value& value, std::set<std::string>& live) {
  const std::vector<Value> parts = value.items();
  if (parts.empty() || !parts[0].is_text()) value.fail("does not begin with the name of an operation");
  Operation result;
  result.text = value.json().dump();
  result.action = parts[0].text();
  static const std::map<std::string, std::size_t> kLengths = {{"alloc", 4},
                                                              {"oom", 4},
                                                              {"free", 2},
                                                              {"empty_cache", 1},
                                                              {"reset_peak", 1},
                                                              {"record_stream", 3},
                                                              {"reset_accumulated", 1}};
  const auto length = kLengths.find(result.action);
  if (length == kLengths.end()) parts[0].fail("is no operation that is known here");
  if (parts.size() < length->second) value.fail("is too short for " + result.action);
  if (length->second > 1) result.id = parts[1].json().dump();
  if (length->second == 4) result.bytes = bytes_of(parts[2]);
  if (length->second > 2) result.stream = stream_of(parts[length->second - 1]);
  if (result.action == "alloc" && !live.insert(result.id).second) parts[1].fail("is allocated already");
  if (result.action == "free" && live.erase(result.id) == 0) parts[1].fail("is not allocated");
  if (result.action == "record_stream" && !live.contains(result.id)) parts[1].fail("is not allocated");
  return result;
}

LogEvent read_event(const Value& value) {
  const std::vector<Value> parts = value.items();
  if (parts.size() < 3 || !parts[0].is_text()) value.fail("is not [action, address, bytes, stream]");
  return {parts[0].text(), bytes_of(parts[1]), bytes_of(parts[2]), 0};
}

Trace read_trace(std::size_t index, const Value& value, const std::vector<std::string>& keys, Unknown& unknown) {
  value.note_unknown(
      {"base", "cap_bytes", "keys", "kind", "log", "name", "ops", "seed", "settings", "stats", "streams"}, unknown);
  Trace result;
  result.name = name_of(index, value);
  const auto own_keys = value.find("keys"), settings = value.find("settings"), base = value.find("base");
  result.keys = own_keys ? texts(*own_keys) : keys;
  if (const auto cap = value.find("cap_bytes")) result.cap_bytes = bytes_of(*cap);
  if (settings) result.settings = settings_of(*settings);
  result.base.assign(result.keys.size(), 0);
  if (base) result.base = one_each(*base, result.keys.size());
  const std::vector<Value> ops = value.at("ops").items(), stats = value.at("stats").items();
  if (ops.size() != stats.size()) value.at("stats").fail("does not have one entry for each of \"ops\"");
  std::set<std::string> live;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    result.operations.push_back(read_operation(ops[i], live));
    result.operations.back().expected = one_each(stats[i], result.keys.size());
  }
  if (const auto log = value.find("log")) {
    result.log.emplace();
    for (const Value& event : log->items()) result.log->push_back(read_event(event));
  }
  return result;
}

std::vector<Trace> read_traces(const Value& root, Unknown& unknown) {
  if (!root.is_object() || !root.find("traces") || !root.at("traces").is_list()) root.fail("has no list \"traces\"");
  root.note_unknown({"keys", "torch", "traces"}, unknown);
  std::vector<std::string> keys;
  if (const auto listed = root.find("keys")) keys = texts(*listed);
  std::vector<Trace> result;
  for (const Value& trace : root.at("traces").items()) {
    result.push_back(read_trace(result.size(), trace, keys, unknown));
  }
  if (result.empty()) root.at("traces").fail("is empty: there is nothing to compare");
  return result;
}

// --- replaying -------------------------------------------------------------------------------------------------------

struct Counts {
  std::size_t without_log = 0;             // traces whose addresses cannot be compared
  std::size_t operations = 0;              // carried out
  std::size_t figures = 0, addresses = 0;  // compared
};

class Replay {
 public:
  Replay(const Trace& trace, Counts& counts)
      : trace_(trace), counts_(counts), driver_(driver_for(trace)), allocator_(*driver_, "cuda:0", 0, trace.settings) {
    if (trace.cap_bytes) allocator_.set_limit(trace.cap_bytes);
  }

  // The first difference; none when the trace is exact.
  std::optional<Difference> run() {
    for (std::size_t i = 0; i < trace_.operations.size() && !difference_; ++i) {
      at_ = i;
      carry_out(trace_.operations[i]);
      ++counts_.operations;
      if (recorded_ && !recorded_->problem().empty()) differ("driver", "as recorded", recorded_->problem());
      if (!difference_) compare_statistics(trace_.operations[i]);
    }
    if (recorded_ && !difference_) {
      if (const LogEvent* left = recorded_->due()) {
        differ("driver", left->action + " of " + std::to_string(left->bytes) + " bytes", "the end of the trace");
      }
    }
    return difference_;
  }

 private:
  std::unique_ptr<DriverMemory> driver_for(const Trace& trace) {
    if (!trace.log) return std::unique_ptr<DriverMemory>(unrecorded_ = new UnrecordedDriver);
    return std::unique_ptr<DriverMemory>(recorded_ = new RecordedDriver(*trace.log));
  }

  void differ(const std::string& key, const std::string& expected, const std::string& got) {
    if (difference_) return;
    const std::string text = at_ < trace_.operations.size() ? trace_.operations[at_].text : "";
    difference_ = Difference{trace_.name + ", operation " + std::to_string(at_) + ": " + text,
                             {{"trace", trace_.name}, {"operation", at_}, {"operation_text", text}},
                             key,
                             expected,
                             got};
  }

  void carry_out(const Operation& operation) {
    const std::string& action = operation.action;
    if (action == "alloc" || action == "oom") {
      allocate(operation);
    } else if (action == "free") {
      free(blocks_.at(operation.id));
      blocks_.erase(operation.id);
    } else if (action == "record_stream") {
      Block* block = blocks_.at(operation.id);
      if (block) allocator_.record_stream(block, operation.stream);
    } else if (action == "empty_cache") {
      allocator_.empty_cache();
    } else if (action == "reset_peak") {
      allocator_.reset_peaks();
    } else {
      allocator_.reset_accumulated();
    }
  }

  void free(Block* block) {
    if (!block) return;
    if (recorded_) expect_event("free_requested", block);
    allocator_.free(block);
  }

  void allocate(const Operation& operation) {
    const bool succeeds = operation.action == "alloc";
    // A tensor without elements has no block: such a request never reaches the allocator.
    if (operation.bytes == 0 && succeeds) {
      blocks_[operation.id] = nullptr;
      return;
    }
    if (unrecorded_) unrecorded_->full = !succeeds;
    try {
      Block* block = allocator_.allocate(operation.bytes, operation.stream);
      blocks_[operation.id] = block;
      if (!succeeds) return differ("outcome", "out of memory", "a block of " + std::to_string(block->bytes) + " bytes");
      if (recorded_) expect_event("alloc", block);
    } catch (const OutOfMemoryError& error) {
      if (succeeds) {
        const std::string segment = std::to_string(error.facts().segment_bytes);
        return differ("outcome", "a block",
                      "out of memory: the recorded driver gave no segment of " + segment + " bytes");
      }
      if (recorded_ && !recorded_->take("oom")) differ("outcome", "no out-of-memory event in the log", "out of memory");
    }
  }

  // What the log says of a block, against the block.
  void expect_event(const std::string& action, const Block* block) {
    const LogEvent* event = recorded_->take(action);
    if (!event) {
      const LogEvent* due = recorded_->due();
      return differ("driver", due ? due->action + " of " + std::to_string(due->bytes) + " bytes" : "the end of the log",
                    action);
    }
    ++counts_.addresses;
    const auto address = reinterpret_cast<std::uintptr_t>(block->address);
    if (event->address != address) differ("address", std::to_string(event->address), std::to_string(address));
  }

  void compare_statistics(const Operation& operation) {
    const auto statistics = allocator_.statistics().flatten();
    for (std::size_t k = 0; k < trace_.keys.size() && !difference_; ++k) {
      const auto found = statistics.find(trace_.keys[k]);
      if (found == statistics.end()) continue;
      ++counts_.figures;
      const std::int64_t got = found->second + trace_.base[k];
      if (got != operation.expected[k]) {
        differ(trace_.keys[k], std::to_string(operation.expected[k]), std::to_string(got));
      }
    }
  }

  const Trace& trace_;
  Counts& counts_;
  RecordedDriver* recorded_ = nullptr;      // one of the two is
  UnrecordedDriver* unrecorded_ = nullptr;  // the driver
  std::unique_ptr<DriverMemory> driver_;
  CachingAllocator allocator_;
  std::map<std::string, Block*> blocks_;
  std::size_t at_ = 0;
  std::optional<Difference> difference_;
};

}  // namespace

Outcome alloc_traces(const JsonFile& file, Device) {
  const Value root(file);
  Outcome outcome;
  outcome.kind = "alloc_traces";
  const std::vector<Trace> traces = read_traces(root, outcome.ignored);
  const auto known = AllocatorStatistics{}.flatten();
  Counts counts;
  for (const Trace& trace : traces) {
    for (const std::string& key : trace.keys) {
      if (!known.contains(key)) outcome.ignored.insert(key);
    }
    if (!trace.log) ++counts.without_log;
    if (std::optional<Difference> difference = Replay(trace, counts).run()) {
      outcome.differ(std::move(*difference));
    } else {
      outcome.pass();
    }
  }
  if (counts.operations > 0 && counts.figures + counts.addresses == 0 && outcome.ok()) {
    root.fail("has no statistic that is known here, and no log of addresses to compare");
  }
  if (counts.without_log > 0) {
    outcome.notes.push_back(std::to_string(counts.without_log) +
                            " of them without a log: addresses are not compared there; which of two equal blocks is "
                            "taken depends on them, so that figures can differ");
  }
  outcome.figures = {{"without_log", counts.without_log},
                     {"operations", counts.operations},
                     {"figures", counts.figures},
                     {"addresses", counts.addresses}};
  return outcome;
}

}  // namespace labrig::conform
