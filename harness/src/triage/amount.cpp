// Reading and writing of sizes.
#include "triage/amount.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace labrig::triage {
namespace {

constexpr std::size_t kLongestNumber = 40;

struct Unit {
  const char *word, *name;  // as written in lower case; as shown
  double bytes;
  bool whole_word;  // a letter behind it makes it another word: "5 broken"
};
// Longer words first: "mib" before "m".
constexpr std::array kUnits = {Unit{"bytes", "bytes", 1, false},      Unit{"byte", "bytes", 1, false},
                               Unit{"kib", "KiB", 1024, false},       Unit{"mib", "MiB", 1048576, false},
                               Unit{"gib", "GiB", 1073741824, false}, Unit{"tib", "TiB", 1099511627776, false},
                               Unit{"kb", "KiB", 1024, false},        Unit{"mb", "MiB", 1048576, false},
                               Unit{"gb", "GiB", 1073741824, false},  Unit{"tb", "TiB", 1099511627776, false},
                               Unit{"b", "bytes", 1, true},           Unit{"k", "KiB", 1024, true},
                               Unit{"m", "MiB", 1048576, true},       Unit{"g", "GiB", 1073741824, true},
                               Unit{"t", "TiB", 1099511627776, true}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool starts_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (lower(text[i]) != word[i]) return false;
  return true;
}

const Unit* unit_at(std::string_view text) {
  for (const Unit& unit : kUnits) {
    const std::string_view word = unit.word;
    if (!starts_with_word(text, word)) continue;
    if (unit.whole_word && text.size() > word.size() && is_letter(text[word.size()])) continue;
    return &unit;
  }
  return nullptr;
}

// The digits of a number with its separators sorted out: "1,024.5" -> "1024.5", "7,93" -> "7.93".
std::string plain_digits(std::string_view digits) {
  const std::size_t comma = digits.find(','), point = digits.rfind('.');
  bool thousands = comma != std::string_view::npos;
  for (std::size_t at = comma; thousands && at != std::string_view::npos; at = digits.find(',', at + 1)) {
    std::size_t run = 0;
    while (at + 1 + run < digits.size() && is_digit(digits[at + 1 + run])) ++run;
    thousands = run == 3 && at > 0 && digits[0] != '0';
  }
  // The last separator that is not one of thousands is the decimal point.
  const std::size_t decimal =
      comma != std::string_view::npos && !thousands && (point == std::string_view::npos || comma > point)
          ? digits.rfind(',')
          : point;
  std::string plain;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (is_digit(digits[i])) plain += digits[i];
    if (i == decimal) plain += '.';
  }
  return plain;
}

}  // namespace

std::optional<NumberAt> number_at(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && length <= kLongestNumber &&
         (is_digit(text[length]) || (length > 0 && (text[length] == '.' || text[length] == ','))))
    ++length;
  while (length > 0 && !is_digit(text[length - 1])) --length;
  if (length == 0 || length > kLongestNumber) return std::nullopt;
  std::string plain = plain_digits(text.substr(0, length));
  const std::size_t point = plain.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(plain.size() - point - 1);
  // An exponent: "6.1e-05".
  if (length + 1 < text.size() && lower(text[length]) == 'e') {
    std::size_t end = length + 1;
    if (text[end] == '-' || text[end] == '+') ++end;
    const std::size_t first = end;
    while (end < text.size() && end < first + 4 && is_digit(text[end])) ++end;
    if (end > first) {
      std::string exponent(text.substr(length + 1, end - length - 1));
      if (exponent[0] == '+') exponent.erase(0, 1);
      plain += "e" + exponent;
      length = end;
    }
  }
  NumberAt number{0, decimals, length};
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number.value);
  if (error == std::errc::result_out_of_range) {
    number.value = plain.find("e-") == std::string::npos ? HUGE_VAL : 0;
  } else if (error != std::errc{} || end != plain.data() + plain.size()) {
    return std::nullopt;
  }
  return number;
}

std::optional<AmountAt> amount_at(std::string_view text) {
  const std::optional<NumberAt> number = number_at(text);
  if (!number) return std::nullopt;
  const Unit* unit = unit_at(text.substr(number->length));
  if (!unit || !std::isfinite(number->value)) return std::nullopt;
  AmountAt result;
  result.amount.bytes = number->value * unit->bytes;
  result.amount.slack_bytes = unit->bytes == 1 ? 0 : 0.5 * std::pow(10.0, -number->decimals) * unit->bytes;
  result.amount.unit = unit->name;
  result.amount.text = fmt::format("{:.{}f} {}", number->value, number->decimals, unit->name);
  result.length = number->length + std::string_view(unit->word).size();
  return result;
}

std::optional<std::string> unit_named(std::string_view word) {
  const Unit* unit = unit_at(word);
  if (!unit || std::string_view(unit->word).size() != word.size()) return std::nullopt;
  return unit->name;
}

double bytes_in(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (name == unit.name) return unit.bytes;
  return 1;
}

Amount exactly(double bytes) {
  const double size = std::abs(bytes);
  const char* unit = size < 1024 ? "bytes" : size < 1048576 ? "KiB" : size < 1073741824 ? "MiB" : "GiB";
  return {bytes, 0, unit, size_in(bytes, unit)};
}

Amount sum(const Amount& a, const Amount& b) {
  const std::string unit = bytes_in(a.unit) >= bytes_in(b.unit) ? a.unit : b.unit;
  return {a.bytes + b.bytes, a.slack_bytes + b.slack_bytes, unit, size_in(a.bytes + b.bytes, unit)};
}

Amount difference(const Amount& a, const Amount& b) {
  const std::string unit = bytes_in(a.unit) >= bytes_in(b.unit) ? a.unit : b.unit;
  return {a.bytes - b.bytes, a.slack_bytes + b.slack_bytes, unit, size_in(a.bytes - b.bytes, unit)};
}

std::string number_in(double bytes, std::string_view unit) {
  return unit == "bytes" ? fmt::format("{:.0f}", bytes) : fmt::format("{:.2f}", bytes / bytes_in(unit));
}

std::string size_in(double bytes, std::string_view unit) { return fmt::format("{} {}", number_in(bytes, unit), unit); }

}  // namespace labrig::triage
