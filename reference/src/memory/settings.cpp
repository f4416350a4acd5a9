// The parser of the settings string: tokens, then one small function a kind of value.
#include "memory/settings.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>

#include "labrig/error.hpp"

namespace labrig {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// The text cut at , : [ ] which are tokens themselves.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    std::string word;
    const auto finish = [&] {
      if (!word.empty()) tokens_.push_back(std::move(word));
      word.clear();
    };
    for (const char c : text) {
      if (c == ',' || c == ':' || c == '[' || c == ']') {
        finish();
        tokens_.emplace_back(1, c);
      } else if (c != ' ' && c != '\t') {
        word += c;
      }
    }
    finish();
  }

  bool at_end() const { return next_ == tokens_.size(); }
  std::string peek() const { return at_end() ? std::string() : tokens_[next_]; }
  std::string take(const std::string& wanted) {
    if (at_end()) throw bad("Error parsing CachingAllocator settings: the text ends where " + wanted + " is due");
    return tokens_[next_++];
  }
  void expect(const std::string& token) {
    const std::size_t index = next_;
    const std::string seen = take("'" + token + "'");
    if (seen == token) return;
    throw bad("Expected '" + token + "' at index " + std::to_string(index) + " in ConfigTokenizer but got '" + seen +
              "'");
  }
  bool take_bool() {
    const std::size_t index = next_;
    const std::string word = take("True or False");
    if (word == "True" || word == "False") return word == "True";
    throw bad("Expected 'True' or 'False' at index " + std::to_string(index) + " in ConfigTokenizer but got '" + word +
              "'");
  }
  std::size_t take_count() { return number<std::size_t>("a whole number"); }
  std::size_t take_mib() {
    const std::size_t mib = take_count();
    return mib > AllocatorSettings::kNoSplitLimit / kMiB ? AllocatorSettings::kNoSplitLimit : mib * kMiB;
  }
  double take_ratio() { return number<double>("a number"); }

  Error bad(const std::string& what, const std::string& fix = {}) const {
    return Error("invalid-allocator-setting", what, "the settings are \"" + std::string(text_) + "\"",
                 fix.empty() ? "write key:value pairs with commas between them, for example "
                               "\"max_split_size_mb:128,garbage_collection_threshold:0.8\""
                             : fix);
  }

 private:
  template <class Number>
  Number number(const char* kind) {
    const std::string word = take(kind);
    Number value{};
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (problem != std::errc() || end != word.data() + word.size()) {
      throw bad("CachingAllocator settings: '" + word + "' is not " + kind);
    }
    return value;
  }

  std::string_view text_;
  std::vector<std::string> tokens_;
  std::size_t next_ = 0;
};

void max_split_size(Tokens& tokens, AllocatorSettings& settings) {
  settings.max_split_bytes = tokens.take_mib();
  if (settings.max_split_bytes < 20 * kMiB) {
    throw tokens.bad("CachingAllocator option max_split_size_mb too small, must be >= 20",
                     "use at least 20: that is the segment from which requests of 1 to 10 MiB are cut");
  }
}

void max_non_split_rounding(Tokens& tokens, AllocatorSettings& settings) {
  settings.max_non_split_rounding_bytes = tokens.take_mib();
  if (settings.max_non_split_rounding_bytes < 20 * kMiB) {
    throw tokens.bad("CachingAllocator option max_non_split_rounding_mb too small, must be >= 20", "use at least 20");
  }
}

void garbage_collection_threshold(Tokens& tokens, AllocatorSettings& settings) {
  settings.garbage_collection_threshold = tokens.take_ratio();
  if (!(settings.garbage_collection_threshold > 0 && settings.garbage_collection_threshold < 1)) {
    throw tokens.bad("garbage_collect_threshold is invalid, set it in (0.0, 1.0)",
                     "it is a part of the allowed memory, for example 0.8");
  }
}

void memory_fraction(Tokens& tokens, AllocatorSettings& settings) {
  const double fraction = tokens.take_ratio();
  if (!(fraction >= 0 && fraction <= 1)) {
    throw tokens.bad("per_process_memory_fraction is invalid, set it in [0.0, 1.0]", "it is a part of the card");
  }
  settings.per_process_memory_fraction = fraction;
}

std::size_t take_divisions(Tokens& tokens, bool zero_is_off) {
  const std::size_t value = tokens.take_count();
  if (std::has_single_bit(value) || (zero_is_off && value == 0)) return value;
  throw tokens.bad(
      std::string("For roundups, the divisons has to be power of 2 ") + (zero_is_off ? "or 0 to disable roundup " : ""),
      "use 2, 4, 8 and so on");
}

// [64:8,256:4,>:1]: a size in MiB, a power of two, names the interval that begins there. The first entry holds for all
// smaller sizes too, ">" for all larger than the one before it. A size between two entries that is not named has none.
void division_list(Tokens& tokens, AllocatorSettings& settings) {
  auto& divisions = settings.divisions;
  tokens.expect("[");
  std::size_t last = 0;
  bool first = true;
  while (tokens.peek() != "]") {
    if (tokens.peek() == ">") {
      tokens.take(">");
      tokens.expect(":");
      const std::size_t value = take_divisions(tokens, true);
      for (std::size_t i = last + 1; i < divisions.size(); ++i) divisions[i] = value;
    } else {
      const std::size_t boundary = tokens.take_count();
      if (!std::has_single_bit(boundary)) {
        throw tokens.bad("For roundups, the intervals have to be power of 2 ", "use sizes like 64, 128, 256 (in MiB)");
      }
      tokens.expect(":");
      const std::size_t value = take_divisions(tokens, true);
      const std::size_t index = std::min<std::size_t>(std::bit_width(boundary) - 1, divisions.size() - 1);
      for (std::size_t i = 0; first && i < index; ++i) divisions[i] = value;
      divisions[index] = value;
      last = index;
      first = false;
    }
    if (tokens.peek() != "]") tokens.expect(",");
  }
  tokens.expect("]");
}

void power2_divisions(Tokens& tokens, AllocatorSettings& settings) {
  if (tokens.peek() == "[") return division_list(tokens, settings);
  settings.divisions.fill(take_divisions(tokens, false));
}

void backend(Tokens& tokens, AllocatorSettings&) {
  const std::string name = tokens.take("a backend");
  if (name == "native") return;
  if (name == "cudaMallocAsync") {
    throw tokens.bad("backend:cudaMallocAsync is not offered here",
                     "leave the key out: this allocator is PyTorch's native one");
  }
  throw tokens.bad("Unknown allocator backend, options are native and cudaMallocAsync", "leave the key out");
}

void register_threads(Tokens& tokens, AllocatorSettings& settings) {
  settings.pinned.num_register_threads = tokens.take_count();
  if (!std::has_single_bit(settings.pinned.num_register_threads)) {
    throw tokens.bad("Number of register threads has to be power of 2 ", "use 1, 2, 4 and so on");
  }
  if (settings.pinned.num_register_threads > 128) {
    throw tokens.bad("Number of register threads should be less than or equal to 128", "use at most 128");
  }
}

using Reader = std::function<void(Tokens&, AllocatorSettings&)>;

const std::map<std::string, Reader, std::less<>>& readers() {
  static const std::map<std::string, Reader, std::less<>> table = {
      {"backend", backend},
      {"expandable_segments", [](Tokens& t, AllocatorSettings& s) { s.expandable_segments = t.take_bool(); }},
      {"garbage_collection_threshold", garbage_collection_threshold},
      {"graph_capture_record_stream_reuse", [](Tokens& t, AllocatorSettings&) { t.take_bool(); }},
      {"max_non_split_rounding_mb", max_non_split_rounding},
      {"max_split_size_mb", max_split_size},
      {"per_process_memory_fraction", memory_fraction},
      {"pinned_max_cached_size_mb", [](Tokens& t, AllocatorSettings& s) { s.pinned.max_cached_bytes = t.take_mib(); }},
      {"pinned_max_round_threshold_mb",
       [](Tokens& t, AllocatorSettings& s) { s.pinned.max_round_bytes = t.take_mib(); }},
      {"pinned_num_register_threads", register_threads},
      {"pinned_use_background_threads",
       [](Tokens& t, AllocatorSettings& s) { s.pinned.use_background_threads = t.take_bool(); }},
      {"pinned_use_cuda_host_register",
       [](Tokens& t, AllocatorSettings& s) { s.pinned.use_cuda_host_register = t.take_bool(); }},
      {"release_lock_on_cudamalloc",
       [](Tokens& t, AllocatorSettings& s) { s.release_lock_on_cudamalloc = t.take_bool(); }},
      {"roundup_power2_divisions", power2_divisions},
      {"throw_on_cudamalloc_oom", [](Tokens& t, AllocatorSettings& s) { s.throw_on_cudamalloc_oom = t.take_bool(); }},
  };
  return table;
}

std::string known_keys() {
  std::string text;
  for (const auto& [key, reader] : readers()) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

std::size_t AllocatorSettings::divisions_for(std::size_t bytes) const {
  const std::size_t power = std::bit_width(bytes | 1) - 1;  // 20 for 1 MiB
  return divisions[power > 20 ? std::min<std::size_t>(power - 20, kIntervals - 1) : 0];
}

AllocatorSettings parse_allocator_settings(std::string_view text) {
  AllocatorSettings settings;
  settings.text = text;
  Tokens tokens(text);
  while (!tokens.at_end()) {
    const std::string key = tokens.take("a key");
    if (key == ",") continue;
    const auto found = readers().find(key);
    if (found == readers().end()) {
      throw tokens.bad("Unrecognized CachingAllocator option: " + key, "the keys are " + known_keys());
    }
    tokens.expect(":");
    found->second(tokens, settings);
    if (!tokens.at_end()) tokens.expect(",");
  }
  return settings;
}

AllocatorSettings allocator_settings_of_environment(std::vector<std::string>& warnings) {
  if (const char* text = std::getenv("PYTORCH_ALLOC_CONF")) return parse_allocator_settings(text);
  const char* text = std::getenv("PYTORCH_CUDA_ALLOC_CONF");
  if (!text) return {};
  warnings.emplace_back("PYTORCH_CUDA_ALLOC_CONF is deprecated, use PYTORCH_ALLOC_CONF instead");
  return parse_allocator_settings(text);
}

bool caching_is_off() { return std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") != nullptr; }

}  // namespace labrig
