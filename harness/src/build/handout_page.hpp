// A lab's handout as one HTML page that needs nothing else: no script, no font, no network. Readable in light and dark.
// Every heading has an anchor, so that a report can point to it.
#pragma once

#include <string>
#include <string_view>

namespace labrig::handout {

// Markdown (CommonMark with tables and strikethrough; raw HTML passes through) to a whole page. The first heading is
// the title. The anchor of a heading: `{#name}` at its end; else `task-3` when it starts with "Task 3"; else its text
// in lower case with hyphens, as on GitHub. A second one of the same name gets "-1", and so on. Throws
// std::runtime_error when the text cannot be parsed.
std::string to_page(std::string_view markdown);

}  // namespace labrig::handout
