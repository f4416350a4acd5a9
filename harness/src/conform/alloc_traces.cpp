// First the document is read into traces, with an error for whatever is not of the form; then each trace is replayed.
#include "conform/alloc_traces.hpp"

#include <map>
#include <memory>
#include <set>

#include "conform/recorded_driver.hpp"
#include "memory/caching_allocator.hpp"

namespace labrig::conform {
namespace {

using nlohmann::json;
using Place = json::json_pointer;

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

// --- reading
// -----------------------------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(const JsonFile& file) : file_(file) {}

  std::vector<Trace> traces() {
    const json& root = file_.json();
    if (!root.is_object() || !root.contains("traces") || !root["traces"].is_array()) {
      fail(Place(), "has no list \"traces\"");
    }
    note_unknown(root, {"keys", "torch", "traces"});
    std::vector<std::string> keys;
    if (root.contains("keys")) keys = strings(root["keys"], Place("/keys"));
    std::vector<Trace> result;
    for (std::size_t i = 0; i < root["traces"].size(); ++i) result.push_back(trace(i, Place("/traces") / i, keys));
    if (result.empty()) fail(Place("/traces"), "is empty: there is nothing to compare");
    return result;
  }
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  [[noreturn]] void fail(const Place& place, const std::string& problem) const { throw file_.error_at(place, problem); }

  void note_unknown(const json& object, const std::set<std::string>& known) {
    for (const auto& [key, value] : object.items()) {
      if (!known.contains(key)) unknown_.insert(key);
    }
  }
  const json& array(const json& value, const Place& place) const {
    if (!value.is_array()) fail(place, "is not a list");
    return value;
  }
  template <class Number>
  Number number(const json& value, const Place& place) const {
    if (!value.is_number_integer()) fail(place, "is not a whole number");
    if constexpr (std::is_unsigned_v<Number>) {
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<Number>::max()) {
        fail(place, "is negative or too large");
      }
    }
    return value.get<Number>();
  }
  std::vector<std::string> strings(const json& value, const Place& place) const {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < array(value, place).size(); ++i) {
      if (!value[i].is_string()) fail(place / i, "is not a text");
      result.push_back(value[i].get<std::string>());
    }
    return result;
  }
  std::vector<std::int64_t> numbers(const json& value, const Place& place, std::size_t count) const {
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < array(value, place).size(); ++i)
      result.push_back(number<std::int64_t>(value[i], place / i));
    if (result.size() != count) {
      fail(place,
           "has " + std::to_string(result.size()) + " entries, and there are " + std::to_string(count) + " keys");
    }
    return result;
  }

  Trace trace(std::size_t index, const Place& place, const std::vector<std::string>& keys) {
    const json& value = file_.json()[place];
    if (!value.is_object()) fail(place, "is not an object");
    note_unknown(value,
                 {"base", "cap_bytes", "keys", "kind", "log", "name", "ops", "seed", "settings", "stats", "streams"});
    Trace result;
    result.name = name_of(index, value);
    result.keys = value.contains("keys") ? strings(value["keys"], place / "keys") : keys;
    if (const auto cap = value.find("cap_bytes"); cap != value.end() && !cap->is_null()) {
      result.cap_bytes = number<std::size_t>(*cap, place / "cap_bytes");
    }
    if (const auto settings = value.find("settings"); settings != value.end() && !settings->is_null()) {
      result.settings = settings_of(*settings, place / "settings");
    }
    result.base.assign(result.keys.size(), 0);
    if (value.contains("base")) result.base = numbers(value["base"], place / "base", result.keys.size());
    if (!value.contains("ops")) fail(place, "has no \"ops\"");
    if (!value.contains("stats")) fail(place, "has no \"stats\"");
    const json& ops = array(value["ops"], place / "ops");
    const json& stats = array(value["stats"], place / "stats");
    if (ops.size() != stats.size()) fail(place / "stats", "does not have one entry for each of \"ops\"");
    live_.clear();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      result.operations.push_back(operation(ops[i], place / "ops" / i));
      result.operations.back().expected = numbers(stats[i], place / "stats" / i, result.keys.size());
    }
    if (const auto log = value.find("log"); log != value.end() && !log->is_null()) {
      result.log.emplace();
      for (std::size_t i = 0; i < array(*log, place / "log").size(); ++i) {
        result.log->push_back(event((*log)[i], place / "log" / i));
      }
    }
    return result;
  }

  static std::string name_of(std::size_t index, const json& value) {
    std::string about;
    for (const char* key : {"name", "kind", "seed", "streams", "settings"}) {
      if (!value.contains(key)) continue;
      const json& part = value[key];
      about += (about.empty() ? "" : ", ") + std::string(key) + " " +
               (part.is_string() ? part.get<std::string>() : part.dump());
    }
    return "trace " + std::to_string(index) + (about.empty() ? "" : " (" + about + ")");
  }

  AllocatorSettings settings_of(const json& value, const Place& place) const {
    if (!value.is_string()) fail(place, "is not a text");
    try {
      return parse_allocator_settings(value.get<std::string>());
    } catch (const Error& error) {
      fail(place, std::string("is not usable: ") + error.what());
    }
  }

  Operation operation(const json& value, const Place& place) {
    if (array(value, place).empty() || !value[0].is_string())
      fail(place, "does not begin with the name of an operation");
    Operation result;
    result.text = value.dump();
    result.action = value[0].get<std::string>();
    static const std::map<std::string, std::size_t> kLengths = {{"alloc", 4},
                                                                {"oom", 4},
                                                                {"free", 2},
                                                                {"empty_cache", 1},
                                                                {"reset_peak", 1},
                                                                {"record_stream", 3},
                                                                {"reset_accumulated", 1}};
    const auto length = kLengths.find(result.action);
    if (length == kLengths.end()) fail(place / 0, "is no operation that is known here");
    if (value.size() < length->second) fail(place, "is too short for " + result.action);
    if (length->second > 1) result.id = value[1].dump();
    if (length->second == 4) {
      result.bytes = number<std::size_t>(value[2], place / 2);
      result.stream = number<std::uint16_t>(value[3], place / 3);
    }
    if (length->second == 3) result.stream = number<std::uint16_t>(value[2], place / 2);
    if (result.action == "alloc" && !live_.insert(result.id).second) fail(place / 1, "is allocated already");
    if (result.action == "free" && live_.erase(result.id) == 0) fail(place / 1, "is not allocated");
    if (result.action == "record_stream" && !live_.contains(result.id)) fail(place / 1, "is not allocated");
    return result;
  }

  LogEvent event(const json& value, const Place& place) const {
    if (array(value, place).size() < 3 || !value[0].is_string()) {
      fail(place, "is not [action, address, bytes, stream]");
    }
    return {value[0].get<std::string>(), number<std::uint64_t>(value[1], place / 1),
            number<std::uint64_t>(value[2], place / 2), 0};
  }

  const JsonFile& file_;
  std::set<std::string> unknown_, live_;
};

// --- replaying
// ---------------------------------------------------------------------------------------------------------

class Replay {
 public:
  Replay(const Trace& trace, AllocTracesResult& result)
      : trace_(trace), result_(result), driver_(driver_for(trace)), allocator_(*driver_, "cuda:0", 0, trace.settings) {
    if (trace.cap_bytes) allocator_.set_limit(trace.cap_bytes);
  }

  // The first difference; none when the trace is exact.
  std::optional<Difference> run() {
    for (std::size_t i = 0; i < trace_.operations.size() && !difference_; ++i) {
      at_ = i;
      carry_out(trace_.operations[i]);
      ++result_.operations;
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
    difference_ = Difference{trace_.name, at_, text, key, expected, got};
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
    ++result_.addresses;
    const auto address = reinterpret_cast<std::uintptr_t>(block->address);
    if (event->address != address) differ("address", std::to_string(event->address), std::to_string(address));
  }

  void compare_statistics(const Operation& operation) {
    const auto statistics = allocator_.statistics().flatten();
    for (std::size_t k = 0; k < trace_.keys.size() && !difference_; ++k) {
      const auto found = statistics.find(trace_.keys[k]);
      if (found == statistics.end()) continue;
      ++result_.figures;
      const std::int64_t got = found->second + trace_.base[k];
      if (got != operation.expected[k]) {
        differ(trace_.keys[k], std::to_string(operation.expected[k]), std::to_string(got));
      }
    }
  }

  const Trace& trace_;
  AllocTracesResult& result_;
  RecordedDriver* recorded_ = nullptr;      // one of the two is
  UnrecordedDriver* unrecorded_ = nullptr;  // the driver
  std::unique_ptr<DriverMemory> driver_;
  CachingAllocator allocator_;
  std::map<std::string, Block*> blocks_;
  std::size_t at_ = 0;
  std::optional<Difference> difference_;
};

}  // namespace

Result<AllocTracesResult> conform_alloc_traces(const JsonFile& file) {
  try {
    Reader reader(file);
    const std::vector<Trace> traces = reader.traces();
    std::set<std::string> ignored = reader.unknown();
    const auto known = AllocatorStatistics{}.flatten();
    AllocTracesResult result;
    result.traces = traces.size();
    for (const Trace& trace : traces) {
      for (const std::string& key : trace.keys) {
        if (!known.contains(key)) ignored.insert(key);
      }
      if (!trace.log) ++result.without_log;
      const std::optional<Difference> difference = Replay(trace, result).run();
      if (!difference) ++result.exact;
      if (difference && !result.first) result.first = difference;
    }
    if (result.operations > 0 && result.figures + result.addresses == 0 && !result.first) {
      return file.error_at(Place(), "has no statistic that is known here, and no log of addresses to compare");
    }
    result.ignored.assign(ignored.begin(), ignored.end());
    return result;
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace labrig::conform
