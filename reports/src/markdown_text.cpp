// CommonMark takes a sign for its own only beside certain neighbours: a star between blanks, an underscore inside a
// word, an ampersand before a blank are plain. What remains gets a backslash. References (@x, #1, !2, ~3, %4, &5, $6,
// GH-7, a@1234567) and addresses are found by GitHub and GitLab in the text that was read, after all escapes: only a
// gap of no width keeps them apart.
#include "markdown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace labrig::reports::markdown {
namespace {

constexpr std::string_view kGap = "&#8203;";

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool alnum(char c) { return letter(c) || digit(c); }
bool word_sign(char c) { return alnum(c) || c == '_' || c == '-'; }
bool hexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// A place in a text, and what stands around it; beyond the ends there are blanks.
struct Place {
  std::string_view text;
  std::size_t at;
  char before() const { return at == 0 ? ' ' : text[at - 1]; }
  char after() const { return at + 1 < text.size() ? text[at + 1] : ' '; }
  std::string_view rest() const { return text.substr(at + 1); }
  bool last() const { return at + 1 == text.size(); }
};

std::string_view word_at_start(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && word_sign(text[length])) ++length;
  return text.substr(0, length);
}

// A colon: could it start "://" or an emoji? Times of day (09:26:53) are none.
bool colon_means(const Place& here) {
  const std::string_view rest = here.rest();
  if (rest.starts_with("//")) return true;
  std::size_t length = 0;
  while (length < rest.size() && (word_sign(rest[length]) || rest[length] == '+')) ++length;
  const std::string_view word = rest.substr(0, length);
  const bool clock = word.size() == 2 && digit(word[0]) && digit(word[1]);
  return !word.empty() && length < rest.size() && rest[length] == ':' && !clock;
}

// An @: could it start a mention, or stand in an address or in somebody's commit? In twenty-chunks@desktop it does not.
bool at_means(const Place& here) {
  if (!alnum(here.before())) return true;
  const std::string_view word = word_at_start(here.rest()), rest = here.rest().substr(word.size());
  const bool goes_on =
      rest.size() > 1 && std::string_view("./@").find(rest[0]) != std::string_view::npos && alnum(rest[1]);
  return goes_on || (word.size() >= 7 && hexadecimal(word));
}

// [issue:1], [vulnerability:2]
bool bracket_means(const Place& here) {
  const std::string_view word = word_at_start(here.rest());
  return !word.empty() && here.rest().substr(word.size()).starts_with(':');
}

bool ends_in(const std::string& text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.rbegin(), lower.rend(), text.rbegin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

// Whether what GitHub or GitLab would read as one must be kept apart behind this sign.
bool needs_gap(const Place& here) {
  const char next = here.after();
  switch (here.text[here.at]) {
    case '@':
      return at_means(here);
    case ':':
      return colon_means(here);
    case '[':
      return bracket_means(here);
    case '#':
    case '&':
    case '$':
      return digit(next);
    case '!':
    case '~':
    case '%':
      return word_sign(next) || next == '"';
    case '+':
    case '-':  // GitLab marks what stands between {+ +}, [- -]
      return next == '}' || next == ']';
    default:
      return false;
  }
}

// The sign itself, so that Markdown takes it for a character.
std::string plain(const Place& here) {
  const char c = here.text[here.at], next = here.after();
  const std::string sign(1, c), with_backslash = "\\" + sign;
  switch (c) {
    case '\n':
      return "<br>";
    case '\t':
    case '\r':
      return " ";
    case '<':
      return next == ' ' ? sign : "&lt;";
    case '&':
      return alnum(next) || next == '#' ? "&amp;" : sign;
    case '$':  // a backslash does not keep GitHub's formulas away
      return "&#36;";
    case '\\':  // stands for itself before a letter: \x1b
      return !here.last() && (alnum(next) || next == ' ' || static_cast<unsigned char>(next) >= 0x80) ? sign
                                                                                                      : with_backslash;
    case '`':
    case '|':
    case '~':
    case '[':
      return with_backslash;
    case '*':
      return here.before() == ' ' && next == ' ' ? sign : with_backslash;
    case '_':
      return alnum(here.before()) && alnum(next) ? sign : with_backslash;
    case '#':  // at the end of a heading it would be taken away
      return alnum(next) ? sign : with_backslash;
    default:
      return sign;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Place here{text, i};
    if (text[i] == '.' && ends_in(out, "www")) out += kGap;
    const bool reference = text[i] == '-' && ends_in(out, "gh");
    out += plain(here);
    if (reference || needs_gap(here)) out += kGap;
  }
  return out;
}

std::string code(std::string_view text) {
  const bool harmless = !text.empty() && text.front() != '@' && std::all_of(text.begin(), text.end(), [](char c) {
    return alnum(c) || std::string_view("-_.@:+=/").find(c) != std::string_view::npos;
  });
  return harmless ? fmt::format("`{}`", text) : escaped(text);
}

std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

}  // namespace labrig::reports::markdown
