#include "conform/json_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace labrig::conform {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr int kDeepest = 64;  // whoever walks over a document does it by recursion
constexpr const char* kFix = "use a file as it was recorded; the README beside the recordings says what each contains";

Error bad_file(const std::filesystem::path& path, const std::string& why) {
  return Error("bad-file", "cannot use " + path.string(), why, kFix);
}

std::string place_text(const std::filesystem::path& path, const std::string& text, std::size_t offset) {
  const std::string before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 when there is none
  return path.string() + ":" + std::to_string(line) + ":" + std::to_string(before.size() - line_start + 1);
}

// The whole content, unpacked when it is gzipped.
Result<std::string> unpacked(const std::filesystem::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return bad_file(path, "the file is not there or cannot be opened");
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  int got = 0;
  while ((got = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) return bad_file(path, "it holds more than 1 GiB");
  }
  int code = Z_OK;
  const std::string problem = gzerror(file.get(), &code);
  if (got < 0 || code != Z_OK) {
    return bad_file(path, "after " + std::to_string(text.size()) + " unpacked bytes: " +
                              (code == Z_BUF_ERROR ? std::string("the gzip data is cut short") : problem));
  }
  return text;
}

// JSON has no words for numbers that are not finite; Python writes NaN, Infinity and -Infinity. They become texts here,
// and `at` keeps where that was, for the place of an error.
struct Quoted {
  std::string text;
  std::vector<std::size_t> at;  // in the new text, of each word that was given quotes

  std::size_t original_offset(std::size_t offset) const {
    const auto before = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), offset) - at.begin());
    return offset - std::min(offset, 2 * before);
  }
};

Quoted with_quoted_words(const std::string& text) {
  static constexpr std::array<std::string_view, 3> kWords = {"NaN", "Infinity", "-Infinity"};
  Quoted result;
  std::size_t at = 0;
  bool in_string = false;
  while (at < text.size()) {
    const char c = text[at];
    std::size_t length = c == '\\' && in_string ? 2 : 1;
    bool quote = false;
    for (const std::string_view word : kWords) {
      if (in_string || text.compare(at, word.size(), word) != 0) continue;
      length = word.size();
      quote = true;
    }
    if (c == '"') in_string = !in_string;
    if (quote) result.at.push_back(result.text.size());
    result.text += (quote ? "\"" : "") + text.substr(at, length) + (quote ? "\"" : "");
    at += length;
  }
  return result;
}

// Walks over a document that has been parsed already, and so is known to be well formed.
class Walker {
 public:
  explicit Walker(const std::string& text) : text_(text) {}

  // Where the value begins that `path` leads to; no further than the path can be followed.
  std::size_t find(const std::vector<std::string>& path) {
    skip_blanks();
    for (const std::string& step : path) {
      if (!enter(step)) break;
    }
    return at_;
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  std::string skip_string() {
    const std::size_t begin = at_++;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void skip_value() {
    int depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '[' || c == '{') {
        ++depth, ++at_;
      } else if (c == ']' || c == '}') {
        --depth, ++at_;
      } else if (c == ',' || c == ':') {
        ++at_;
      } else {
        at_ = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
      }
      skip_blanks();
    } while (depth > 0);
  }
  // From the beginning of an array or object to the member `step` of it.
  bool enter(const std::string& step) {
    const std::size_t begin = at_;
    const bool object = text_[at_] == '{';
    if (!object && text_[at_] != '[') return false;
    ++at_;
    skip_blanks();
    for (std::size_t index = 0; text_[at_] != ']' && text_[at_] != '}'; ++index) {
      std::string name = std::to_string(index);
      if (object) {
        name = json::parse(skip_string()).get<std::string>();
        skip_blanks();
        ++at_;  // the colon
        skip_blanks();
      }
      if (name == step) return true;
      skip_value();
      if (text_[at_] == ',') ++at_;
      skip_blanks();
    }
    at_ = begin;
    return false;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

std::vector<std::string> steps_of(json::json_pointer place) {
  std::vector<std::string> steps;
  for (; !place.empty(); place.pop_back()) steps.push_back(place.back());
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

Result<JsonFile> JsonFile::read(const std::filesystem::path& path) {
  Result<std::string> text = unpacked(path);
  if (!text) return text.error();
  JsonFile file;
  file.path_ = path;
  file.text_ = std::move(text).value();
  const Quoted quoted = with_quoted_words(file.text_);
  try {
    bool too_deep = false;
    file.json_ = json::parse(quoted.text, [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
      too_deep = too_deep || depth > kDeepest;
      return !too_deep;
    });
    if (too_deep) return bad_file(path, "it is nested more than " + std::to_string(kDeepest) + " deep");
  } catch (const json::parse_error& error) {
    const std::size_t offset = std::min(error.byte > 0 ? error.byte - 1 : 0, quoted.text.size());
    return bad_file(path, place_text(path, file.text_, quoted.original_offset(offset)) +
                              ": this is not JSON, or JSON that is cut short");
  } catch (const json::out_of_range& error) {  // "… number overflow parsing '1e999'"
    const std::string what = error.what(), number = what.substr(0, what.rfind('\'')).substr(what.find('\'') + 1);
    return bad_file(path, place_text(path, file.text_, std::min(file.text_.find(number), file.text_.size())) +
                              ": a number that no double holds");
  }
  return file;
}

Error JsonFile::error_at(const json::json_pointer& place, const std::string& problem) const {
  const std::size_t offset = Walker(text_).find(steps_of(place));
  const std::string name = place.empty() ? "the document" : place.to_string();
  return bad_file(path_, place_text(path_, text_, offset) + ": " + name + " " + problem);
}

}  // namespace labrig::conform
