// Texts that come from elsewhere (names, reasons, captured output) made safe to show: valid UTF-8, nothing that moves a
// cursor, reorders a line or hides. Escaping for HTML comes on top, where the page is written (template.hpp, svg.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace labrig::reports {

enum class Lines { one, many };

inline constexpr std::size_t kLineLimit = 2'000;     // of names, titles, reasons, hints; bytes
inline constexpr std::size_t kOutputLimit = 16'384;  // of captured output

// Control characters, bidirectional controls, invisible characters and bytes that are no UTF-8 become escapes as C
// writes them (\x1b, \u202e, \xff); of a pile of combining marks four are kept. With Lines::many newlines and tabs
// stay. At most `limit` bytes of `raw` are looked at; what follows is replaced by "… (N more bytes)".
std::string printable(std::string_view raw, Lines lines = Lines::one, std::size_t limit = kLineLimit);

// For text and for quoted attributes, of HTML and of SVG inside HTML.
std::string escape_html(std::string_view text);

// "" unless `address` is a relative path or an https address that is safe in an href.
std::string safe_link(std::string_view address);
// Letters, digits, '-', '_', '.' kept, everything else '-': for ids and anchors.
std::string anchor(std::string_view text);
// A word of a shell command, quoted when it needs to be.
std::string shell_word(std::string_view word);

}  // namespace labrig::reports
