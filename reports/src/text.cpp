// One pass over the bytes: decode, classify, copy or escape. The decoder refuses what RFC 3629 refuses (overlong forms,
// surrogates, beyond U+10FFFF), so that no browser can read the result differently.
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace labrig::reports {
namespace {

struct Decoded {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

Decoded decode(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  std::size_t length = 0;
  char32_t code = 0, smallest = 0;
  if ((first & 0xe0) == 0xc0) {
    length = 2, code = first & 0x1fu, smallest = 0x80;
  } else if ((first & 0xf0) == 0xe0) {
    length = 3, code = first & 0x0fu, smallest = 0x800;
  } else if ((first & 0xf8) == 0xf0) {
    length = 4, code = first & 0x07u, smallest = 0x10000;
  }
  if (length == 0 || s.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  if (code < smallest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

bool between(char32_t c, char32_t low, char32_t high) { return c >= low && c <= high; }

// Numbers that will never be characters: XML forbids some, HTML counts all as errors.
bool no_character(char32_t c) { return (c & 0xfffe) == 0xfffe || between(c, 0xfdd0, 0xfdef); }

// Letters without a shape: two names that differ in one look alike.
bool filler(char32_t c) {
  return c == 0x115f || c == 0x1160 || c == 0x17b4 || c == 0x17b5 || c == 0x3164 || c == 0xffa0;
}

// What has no shape of its own but changes how its neighbours look. Joiners (U+200C, U+200D) stay: scripts need them.
bool invisible(char32_t c) {
  return c < 0x20 || between(c, 0x7f, 0x9f) || c == 0xad || c == 0x61c || between(c, 0x180b, 0x180f) || c == 0x200b ||
         c == 0x200e || c == 0x200f || between(c, 0x2028, 0x202e) || between(c, 0x2060, 0x206f) || c == 0xfeff ||
         between(c, 0xfff9, 0xfffb) || between(c, 0x13430, 0x1343f) || between(c, 0x1bca0, 0x1bca3) ||
         between(c, 0x1d173, 0x1d17a) || between(c, 0xe0000, 0xe0fff) || no_character(c) || filler(c);
}

bool combining(char32_t c) {
  return between(c, 0x300, 0x36f) || between(c, 0x483, 0x489) || between(c, 0x1ab0, 0x1aff) ||
         between(c, 0x1dc0, 0x1dff) || between(c, 0x20d0, 0x20ff) || between(c, 0xfe20, 0xfe2f);
}

std::string escaped(char32_t c) {
  const auto value = static_cast<std::uint32_t>(c);
  if (value < 0x80) return fmt::format("\\x{:02x}", value);
  return value < 0x10000 ? fmt::format("\\u{:04x}", value) : fmt::format("\\U{:08x}", value);
}

}  // namespace

std::string printable(std::string_view raw, Lines lines, std::size_t limit) {
  std::string_view rest = raw.substr(0, limit);
  // Not in the middle of a character.
  if (rest.size() < raw.size()) {
    for (int i = 0; i < 3 && !rest.empty() && (static_cast<std::uint8_t>(raw[rest.size()]) & 0xc0) == 0x80; ++i) {
      rest.remove_suffix(1);
    }
  }
  const std::size_t kept = rest.size();
  std::string out;
  out.reserve(kept);
  int marks = 0;
  while (!rest.empty()) {
    const auto [code, bytes] = decode(rest);
    if (bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(rest[0]));
      rest.remove_prefix(1);
      continue;
    }
    marks = combining(code) ? marks + 1 : 0;
    const bool layout = lines == Lines::many && (code == '\n' || code == '\t');
    if (marks > 4 || (invisible(code) && !layout)) {
      out += escaped(code);
    } else {
      out += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  if (kept < raw.size()) out += fmt::format("… ({} more bytes)", raw.size() - kept);
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string safe_link(std::string_view address) {
  const std::string_view scheme = "https://";
  const bool absolute = address.substr(0, scheme.size()) == scheme;
  const std::string_view path = absolute ? address.substr(scheme.size()) : address;
  // A colon would start another scheme, a leading "//" another host.
  const bool relative_ok = path.find(':') == std::string_view::npos && path.substr(0, 2) != "//";
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("-._~/#?=&%+,:@ ").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain && (absolute || relative_ok) ? std::string(address) : std::string();
}

std::string anchor(std::string_view text) {
  std::string out(text.substr(0, 120));
  for (char& c : out) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x80 || (std::isalnum(u) == 0 && c != '-' && c != '_' && c != '.')) c = '-';
  }
  return out;
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && word.front() != '-' && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("-_./+@:,").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace labrig::reports
