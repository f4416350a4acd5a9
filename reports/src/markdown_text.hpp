// Texts inside a page of GitHub's, GitLab's or plain Markdown, without a meaning of their own there and as readable in
// an editor as that allows. They must be printable (text.hpp), and stand behind something else on their line.
#pragma once

#include <string>
#include <string_view>

namespace labrig::reports::markdown {

// Running text: only signs that would mean something where they stand are escaped, and links, mentions, references and
// emoji are kept from forming by a gap of no width. Newlines become breaks: the text stays on its line.
std::string escaped(std::string_view text);

// Ids, hashes: a code span where every character is harmless, else escaped.
std::string code(std::string_view text);

// A block as it is. The fence is longer than every run of backticks inside, so nothing inside ends it.
std::string fenced(std::string_view text, std::string_view language);

}  // namespace labrig::reports::markdown
