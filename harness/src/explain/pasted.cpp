#include "explain/pasted.hpp"

#include <algorithm>
#include <cctype>

namespace labrig::explain {

namespace {

// Messages stand at the end of a log.
constexpr std::size_t kMostBytes = 256 * 1024;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Without terminal sequences: ESC [ … letter.
std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      plain += text[at];
      continue;
    }
    if (at + 1 < text.size() && text[at + 1] == '[')
      for (at += 2; at < text.size() && !is_letter(text[at]);) ++at;
  }
  return plain;
}

constexpr std::string_view kLevels[] = {"DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL"};

// What loggers, launchers and test runners put in front of a line: "[rank0]: ", "(worker pid=7) ", a date or a time,
// "E   ", "> ", "| ". The length of one such mark; 0 when the line begins with something else.
std::size_t mark_length(std::string_view line) {
  const char first = line.front();
  if (is_space(first) || first == '>' || first == '|') return 1;
  if (first == 'E' && line.starts_with("E  ")) return 1;
  for (const std::string_view level : kLevels)
    if (line.starts_with(level) && line.size() > level.size() &&
        std::string_view(" :|-\t").find(line[level.size()]) < 5)
      return level.size() + 1;
  if (first == '[' || line.starts_with("(pid=") || line.starts_with("(worker") || line.starts_with("(Worker")) {
    const std::size_t close = line.find(first == '[' ? ']' : ')');
    if (close == std::string_view::npos || close > 60) return 0;
    // A list of numbers is no mark.
    if (std::none_of(line.begin(), line.begin() + close, [](char c) { return is_letter(c) || c == ':'; })) return 0;
    return close + (close + 1 < line.size() && line[close + 1] == ':' ? 2 : 1);
  }
  if (!is_digit(first)) return 0;
  std::size_t end = 0;  // of a date or a time: digits with - or : between them
  while (end < line.size() && (is_digit(line[end]) || std::string_view("-/:.,TZ").find(line[end]) < 7)) ++end;
  const std::string_view stamp = line.substr(0, end);
  const bool is_stamp =
      std::count(stamp.begin(), stamp.end(), ':') == 2 || std::count(stamp.begin(), stamp.end(), '-') == 2;
  return is_stamp ? end : 0;
}

std::string_view without_marks(std::string_view line) {
  while (!line.empty()) {
    const std::size_t length = mark_length(line);
    if (length == 0) break;
    line.remove_prefix(length);
  }
  return line;
}

// "RuntimeError: …", "torch.OutOfMemoryError: …", "UserWarning: …", "error: …".
bool begins_with_an_error(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]) || line[end] == '_' || line[end] == '.'))
    ++end;
  if (end == 0 || end >= line.size() || line[end] != ':') return false;
  const std::string_view name = line.substr(0, end);
  return name == "error" || name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning");
}

}  // namespace

Pasted read_pasted(std::string_view text) {
  if (text.size() > kMostBytes) text.remove_prefix(text.size() - kMostBytes);
  const std::string plain = without_colours(text);
  Pasted pasted;
  std::size_t message = std::string::npos;
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string_view line = without_marks(std::string_view(plain).substr(at, end - at));
    if (begins_with_an_error(line)) message = pasted.text.size();
    pasted.text.append(line).append(1, '\n');
    at = end + 1;
  }
  if (message != std::string::npos) pasted.message = pasted.text.substr(message);
  return pasted;
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (is_letter(c) || is_digit(c)) result += lower(c);
  return result;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c))
      word += lower(c);
    else if (c != '\'' && !word.empty())
      words.push_back(std::move(word)), word.clear();
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace labrig::explain
