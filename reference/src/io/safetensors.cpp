// Reading a header: nlohmann's parser tells what it meets (so that a file cannot make it build a tree), and a reader
// that knows its place in the one allowed shape refuses all else.
//
//   { "__metadata__": { text: text, … },  name: { "dtype": text, "shape": [ … ], "data_offsets": [ begin, end ] }, … }
#include "io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

namespace labrig::io {
namespace {

using json = nlohmann::json;

const char* const kAgain = "copy or download the file again, and compare its size with that of the source";
const char* const kNotJson = "InvalidHeaderDeserialization";
const char* const kWriter = "write the file again, with labrig::io::save or the safetensors package";

// In the order of Dtype.
constexpr std::array<const char*, kDtypeCount> kDtypeNames = {"F32", "F16", "BF16", "F64", "I64", "I32", "U8", "BOOL"};
// In the order in which the Python package puts the data.
constexpr std::array<Dtype, kDtypeCount> kWriteOrder = {kI64, kF64, kF32, kI32, kBF16, kF16, kU8, kBool};

std::optional<Dtype> dtype_named(std::string_view name) {
  const auto* const at = std::ranges::find(kDtypeNames, name);
  if (at == kDtypeNames.end()) return std::nullopt;
  return static_cast<Dtype>(at - kDtypeNames.begin());
}

// Walks over the text and counts, so that an error can tell its place.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  std::uint64_t* count = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at, ++*count;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
};

// What is told of the header, piece by piece. Each call returns whether to go on.
class HeaderReader {
 public:
  HeaderReader(const FileFacts& file, const std::uint64_t& consumed) : file_(file), consumed_(consumed) {}

  Header& header() { return header_; }
  const std::optional<Error>& error() const { return error_; }

  bool start_object(std::size_t) {
    if (place_ == Place::outside) return go(Place::top);
    if (place_ != Place::top) return misplaced("an object");
    if (name_ == "__metadata__") return go(Place::metadata);
    entry_ = {};
    fields_.clear();
    return go(Place::tensor);
  }

  bool key(std::string& text) {
    (place_ == Place::top ? name_ : field_) = text;
    if (place_ != Place::tensor) {
      auto& names = place_ == Place::top ? names_ : metadata_names_;
      return names.insert(text).second || fail("'" + text + "' is there twice");
    }
    if (text != "dtype" && text != "shape" && text != "data_offsets")
      return fail("'" + text + "' is no part of a tensor");
    if (std::ranges::find(fields_, text) != fields_.end())
      return fail("'" + text + "' of '" + name_ + "' is there twice");
    fields_.push_back(text);
    return true;
  }

  bool end_object() {
    if (place_ == Place::top) return go(Place::outside);
    if (place_ == Place::tensor && !finish_entry()) return false;
    return go(Place::top);
  }

  bool start_array(std::size_t) {
    numbers_.clear();
    return place_ == Place::tensor && field_ != "dtype" ? go(Place::numbers) : misplaced("a list");
  }

  bool end_array() {
    if (field_ == "data_offsets") {
      if (numbers_.size() != 2) return fail("'data_offsets' of '" + name_ + "' must be two numbers");
      entry_.begin = numbers_[0], entry_.end = numbers_[1];
      return go(Place::tensor);
    }
    for (const std::uint64_t size : numbers_) {
      if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return fail("a size of '" + name_ + "' is above 2^63");
      }
      entry_.sizes.push_back(static_cast<std::int64_t>(size));
    }
    return go(Place::tensor);
  }

  bool number_unsigned(std::uint64_t value) {
    if (place_ != Place::numbers) return misplaced("a number");
    if (numbers_.size() == kMaxDims) return fail("'" + name_ + "' has more than six dimensions");
    numbers_.push_back(value);
    return true;
  }

  bool string(std::string& text) {
    if (place_ == Place::metadata) {
      header_.metadata[field_] = text;
      return true;
    }
    if (place_ != Place::tensor || field_ != "dtype") return misplaced("a text");
    const auto dtype = dtype_named(text);
    if (!dtype) return fail("'" + name_ + "' is of type '" + text + "', which labrig does not have");
    entry_.dtype = *dtype;
    return true;
  }

  bool number_integer(std::int64_t value) { return fail("the number " + std::to_string(value) + " is negative"); }
  bool number_float(double, const std::string& text) {
    return fail("the number " + text + " is not a whole one of 64 bits");
  }
  bool null() { return misplaced("null"); }
  bool boolean(bool) { return misplaced("a truth value"); }
  bool binary(json::binary_t&) { return misplaced("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const json::exception& error) {
    // The sentence behind the library's own prefix and position.
    std::string text = error.what();
    if (const auto colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
    error_ = bad_checkpoint(file_, kNotJson, kLengthBytes + position - (position > 0), text, kAgain);
    return false;
  }

 private:
  enum class Place { outside, top, metadata, tensor, numbers };

  bool go(Place place) {
    place_ = place;
    return true;
  }
  bool fail(const std::string& problem, std::string_view kind = kNotJson) {
    error_ = bad_checkpoint(file_, kind, kLengthBytes + consumed_, problem, kWriter);
    return false;
  }
  bool misplaced(const char* what) { return fail(std::string(what) + " stands where none may be"); }

  bool finish_entry() {
    if (fields_.size() != 3) return fail("'" + name_ + "' lacks one of 'dtype', 'shape' and 'data_offsets'");
    unsigned __int128 bytes = element_bytes(entry_.dtype);
    for (const std::int64_t size : entry_.sizes) {
      bytes *= static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));  // strides multiply beside a 0 as well
      if (bytes > std::numeric_limits<std::int64_t>::max()) {
        return fail("'" + name_ + "' of shape " + entry_.sizes.str() + " has more than 2^63 bytes",
                    "ValidationOverflow");
      }
    }
    if (entry_.sizes.product() == 0) bytes = 0;
    if (entry_.begin > entry_.end || entry_.end - entry_.begin != bytes) {
      return fail("'" + name_ + "' of type " + kDtypeNames[static_cast<std::size_t>(entry_.dtype)] + " and shape " +
                      entry_.sizes.str() + " takes " + std::to_string(static_cast<std::uint64_t>(bytes)) +
                      " bytes; its offsets are " + std::to_string(entry_.begin) + " to " + std::to_string(entry_.end),
                  "TensorInvalidInfo");
    }
    entry_.name = name_;
    entry_.position = kLengthBytes + consumed_;
    header_.entries.push_back(entry_);
    return true;
  }

  const FileFacts& file_;
  const std::uint64_t& consumed_;  // bytes of the text so far
  std::optional<Error> error_;
  Header header_;
  Place place_ = Place::outside;
  std::string name_, field_;  // the key that is being read, of the header and of an object in it
  std::vector<std::string> fields_;
  std::vector<std::uint64_t> numbers_;
  Entry entry_;
  std::unordered_set<std::string> names_, metadata_names_;  // looked up, never walked
};

// Sorted by their bytes, entries must cover the data without gaps and end where the file does.
std::optional<Error> check_cover(std::vector<Entry>& entries, std::uint64_t data_start, const FileFacts& file) {
  std::ranges::stable_sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != covered) {
      return bad_checkpoint(file, "InvalidOffset", entry.position,
                            "'" + entry.name + "' begins at byte " + std::to_string(entry.begin) +
                                " of the data, and those before it end at byte " + std::to_string(covered),
                            kWriter);
    }
    covered = entry.end;
  }
  const std::uint64_t there = file.bytes - data_start;
  if (covered == there) return std::nullopt;
  const std::string problem = "the header tells of " + std::to_string(covered) + " bytes of data, and there are " +
                              std::to_string(there) + (covered > there ? ": the file was cut short" : "");
  return bad_checkpoint(file, "MetadataIncompleteBuffer", data_start + std::min(covered, there), problem, kAgain);
}

struct Stranger {
  std::string_view start;
  const char* is;
  const char* fix;
};
// What a file often is instead, by its first bytes.
constexpr std::array<Stranger, 7> kStrangers = {{
    {"version https://git-lfs", "this is a Git LFS pointer, not weights: a few lines of text that stand for the file",
     "fetch the file itself with `git lfs pull`, or download it from the web page of the repository"},
    {"<", "this is an HTML page, not weights: what a server answers when the address is wrong or needs a login",
     "open the address in a browser, correct it, and download again"},
    {"PK\x03\x04", "this is a file of torch.save (a zip archive), not safetensors",
     "in Python: safetensors.torch.save_file(torch.load(path, map_location=\"cpu\"), new_path)"},
    {"\x80\x02", "this is a pickle (an old file of torch.save), not safetensors",
     "in Python: safetensors.torch.save_file(torch.load(path, map_location=\"cpu\"), new_path)"},
    {"\x1f\x8b", "this is packed with gzip", "unpack it with gunzip"},
    {"{", "this is a JSON text, not weights: an index of several files, or a server's answer that something went wrong",
     "load the files that an index names; else download again"},
    {"GGUF", "this is a GGUF file, not safetensors", "look for the safetensors file of the same model"},
}};

}  // namespace

Error bad_checkpoint(const FileFacts& file, std::string_view kind, std::uint64_t position, const std::string& problem,
                     const std::string& fix) {
  return Error("bad-checkpoint", "Error while deserializing header: " + std::string(kind),
               "at byte " + std::to_string(position) + " of '" + file.path + "': " + problem, fix);
}

Result<std::uint64_t> header_length(std::string_view start, const FileFacts& file) {
  if (file.bytes < kLengthBytes || start.size() < kLengthBytes) {
    const std::string problem = file.bytes == 0
                                    ? "the file is empty"
                                    : "it has " + std::to_string(file.bytes) + " bytes, fewer than the 8 of a length";
    return bad_checkpoint(file, "HeaderTooSmall", file.bytes, problem, kAgain);
  }
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(start[i]);
  const bool too_large = length > kMaxHeaderBytes;
  if (!too_large && length <= file.bytes - kLengthBytes) return length;
  const char* const kind = too_large ? "HeaderTooLarge" : "InvalidHeaderLength";
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  for (const Stranger& stranger : kStrangers) {
    if (start.starts_with(stranger.start)) return bad_checkpoint(file, kind, 0, stranger.is, stranger.fix);
  }
  return bad_checkpoint(file, kind, 0,
                        "a header of " + std::to_string(length) + " bytes is said to follow, and " +
                            (too_large ? "the longest that is read has " + std::to_string(kMaxHeaderBytes)
                                       : "the file has " + std::to_string(file.bytes) + " in all"),
                        kAgain);
}

Result<Header> parse_header(std::string_view text, const FileFacts& file) {
  if (!text.starts_with('{')) {
    return bad_checkpoint(file, "InvalidHeaderStart", kLengthBytes, "the header must begin with '{'", kAgain);
  }
  std::uint64_t consumed = 0;
  HeaderReader reader(file, consumed);
  const char* const begin = &text.front();
  json::sax_parse(CountingIterator{begin, &consumed}, CountingIterator{begin + text.size(), &consumed}, &reader);
  if (const auto& error = reader.error()) return *error;
  if (auto error = check_cover(reader.header().entries, kLengthBytes + text.size(), file)) return *error;
  return std::move(reader.header());
}

void sort_for_writing(std::vector<Entry>& entries) {
  std::ranges::sort(entries, {}, [](const Entry& entry) {
    return std::pair(std::ranges::find(kWriteOrder, entry.dtype), std::string_view(entry.name));
  });
}

std::string header_text(const std::vector<Entry>& entries, const Metadata& metadata) try {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  for (const Entry& entry : entries) {
    auto& tensor = header[entry.name];
    tensor["dtype"] = kDtypeNames[static_cast<std::size_t>(entry.dtype)];
    tensor["shape"] = std::vector<std::int64_t>(entry.sizes.begin(), entry.sizes.end());
    tensor["data_offsets"] = {entry.begin, entry.end};
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  std::string length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length += static_cast<char>(text.size() >> 8 * i & 0xff);
  return length + text;
} catch (const json::exception& error) {
  throw Error("bad-checkpoint", "a name or a text of the metadata is not UTF-8",
              std::string("the header of the file is JSON: ") + error.what(), "use texts in UTF-8");
}

}  // namespace labrig::io
