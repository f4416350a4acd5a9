#include "build/handout_page.hpp"

#include <md4c-html.h>

#include <cctype>
#include <map>
#include <stdexcept>

namespace labrig::handout {

namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --text: #1c1f23; --page: #ffffff; --soft: #f3f4f6; --line: #d5d9de; --accent: #0b5cad; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e3e6ea; --page: #15181c; --soft: #20252b; --line: #3a414a; --accent: #7db7f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 5rem; max-width: 46rem; overflow-wrap: break-word; color: var(--text); background: var(--page);
  font: 1.05rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1, h2, h3, h4 { line-height: 1.25; margin: 2.2em 0 .6em; } h1 { margin-top: 0; font-size: 2rem; }
h2 { font-size: 1.45rem; padding-bottom: .25em; border-bottom: 1px solid var(--line); } h3 { font-size: 1.15rem; }
a { color: var(--accent); }
h1 > a, h2 > a, h3 > a, h4 > a { margin-left: .4em; text-decoration: none; opacity: 0; }
:is(h1, h2, h3, h4):hover > a, :is(h1, h2, h3, h4) > a:focus { opacity: 1; }
:target { background: var(--soft); outline: .4em solid var(--soft); } [id] { scroll-margin-top: 1rem; }
code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--soft); padding: .1em .3em; border-radius: 4px; }
pre { padding: .8rem .9rem; overflow-x: auto; background: var(--soft); border: 1px solid var(--line); border-radius: 6px;
  font-size: .9rem; line-height: 1.3; }
pre code { padding: 0; background: none; font-size: inherit; }
.operator { white-space: nowrap; }
.scroll { overflow-x: auto; margin: 1em 0; } table { border-collapse: collapse; }
th, td { padding: .4em .7em; border: 1px solid var(--line); text-align: left; vertical-align: top; } th { background: var(--soft); }
blockquote { margin: 1em 0; padding: .1em 1em; border-left: 4px solid var(--accent); background: var(--soft); }
img, svg { max-width: 100%; height: auto; }
figure { margin: 1.2em 0; } figcaption { font-size: .92rem; }
@media (min-width: 46rem) { pre { width: fit-content; min-width: 100%; max-width: calc(50vw + 19.5rem); } }
@media (max-width: 36rem) { body { padding: 1.25rem .9rem 4rem; } pre { padding: .6rem; font-size: .72rem; }
  table { font-size: .94rem; } th, td { padding: .3em .5em; } }
)";

void append(const MD_CHAR* text, MD_SIZE size, void* out) { static_cast<std::string*>(out)->append(text, size); }

bool is_heading(std::string_view html, std::size_t at) {
  return html.size() > at + 4 && html[at] == '<' && html[at + 1] == 'h' && html[at + 2] >= '1' && html[at + 2] <= '6' &&
         html[at + 3] == '>';
}

// The text of a fragment of HTML: without tags, entities kept as they are (they come from escaping and stay escaped).
std::string text_of(std::string_view html) {
  std::string text;
  bool in_tag = false;
  for (char c : html) {
    if (c == '<') in_tag = true;
    if (!in_tag) text += c;
    if (c == '>') in_tag = false;
  }
  return text;
}

void replace_all(std::string& html, std::string_view from, std::string_view to) {
  for (std::size_t at = html.find(from); at != std::string::npos; at = html.find(from, at + to.size()))
    html.replace(at, from.size(), to);
}

// A line may break behind any hyphen, also that of "->" in a call; this keeps the two signs together.
void keep_arrows_whole(std::string& html) { replace_all(html, "-&gt;", "<span class=\"operator\">-&gt;</span>"); }

// What may be wider than a phone scrolls by itself, also from the keyboard.
void let_wide_parts_scroll(std::string& html) {
  replace_all(html, "<pre>", "<pre tabindex=\"0\">");
  replace_all(html, "<table>", "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>");
  replace_all(html, "</table>", "</table></div>");
}

// "When it goes wrong" -> "when-it-goes-wrong".
std::string anchor_of(std::string_view text) {
  std::string anchor;
  bool entity = false;
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '&') entity = true;
    if (entity) {
      entity = c != ';';
    } else if (std::isalnum(u) || c == '_' || u >= 0x80) {
      anchor += static_cast<char>(u < 0x80 ? std::tolower(u) : u);
    } else if (c == ' ' || c == '-') {
      anchor += '-';
    }
  }
  return anchor;
}

// "task-3-fetch-once" -> "task-3"; nothing for other anchors.
std::string task_anchor_of(const std::string& anchor) {
  constexpr std::string_view kTask = "task-";
  if (!anchor.starts_with(kTask)) return {};
  std::size_t end = kTask.size();
  while (end < anchor.size() && std::isdigit(static_cast<unsigned char>(anchor[end]))) ++end;
  return end > kTask.size() && end < anchor.size() ? anchor.substr(0, end) : std::string();
}

// Takes "{#name}" off the end of a heading; empty when there is none.
std::string take_explicit_anchor(std::string& heading) {
  const auto open = heading.rfind("{#");
  if (open == std::string::npos || !heading.ends_with('}')) return {};
  std::string name = heading.substr(open + 2, heading.size() - open - 3);
  heading.resize(open);
  while (!heading.empty() && heading.back() == ' ') heading.pop_back();
  return name;
}

struct Body {
  std::string html, title;
};

// md4c writes "<h2>…</h2>"; what is inside cannot hold another heading, and a code block cannot hold a bare '<'.
Body with_anchors(std::string_view html) {
  Body body;
  std::map<std::string, int> used;
  std::size_t at = 0;
  while (at < html.size()) {
    if (!is_heading(html, at)) {
      body.html += html[at++];
      continue;
    }
    std::string close = "</";
    close += html.substr(at + 1, 3);
    const std::size_t end = html.find(close, at);
    if (end == std::string_view::npos) throw std::runtime_error("a heading written in HTML is not closed");
    std::string heading(html.substr(at + 4, end - at - 4));
    std::string anchor = take_explicit_anchor(heading);
    if (anchor.empty()) anchor = anchor_of(text_of(heading));
    if (const int again = used[anchor]++; again > 0) anchor.append("-").append(std::to_string(again));
    if (const std::string task = task_anchor_of(anchor); !task.empty() && used[task]++ == 0)
      heading.insert(0, "<span id=\"" + task + "\"></span>");
    if (body.title.empty()) body.title = text_of(heading);
    body.html.append("<h").append(1, html[at + 2]).append(" id=\"").append(anchor).append("\">").append(heading);
    body.html.append("<a href=\"#").append(anchor).append("\" aria-label=\"link to this section\">#</a>").append(close);
    at = end + close.size();
  }
  return body;
}

}  // namespace

std::string to_page(std::string_view markdown) {
  std::string html;
  if (md_html(markdown.data(), static_cast<MD_SIZE>(markdown.size()), append, &html,
              MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_PERMISSIVEURLAUTOLINKS, MD_HTML_FLAG_SKIP_UTF8_BOM) != 0)
    throw std::runtime_error("the text is not Markdown that md4c can read");
  keep_arrows_whole(html);
  let_wide_parts_scroll(html);
  const Body body = with_anchors(html);
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" + body.title + "</title>\n";
  page += "<style>" + std::string(kStyle) + "</style>\n</head>\n<body>\n<main>\n" + body.html +
          "</main>\n</body>\n</html>\n";
  return page;
}

}  // namespace labrig::handout
