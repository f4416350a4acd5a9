// The report for a comment on GitHub. Nothing of a submission or a lab has a meaning here: a text is either in a code
// span of harmless characters, in a fence longer than any run of backticks in it, or escaped character by character
// and never at the start of a line.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "causes.hpp"
#include "format_renderers.hpp"
#include "model.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

// Keeps links, mentions, references and emoji from forming; nothing is seen of it.
constexpr std::string_view kGap = "&#8203;";

bool ends_in(const std::string& text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.rbegin(), lower.rend(), text.rbegin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

bool word_sign(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

// Whether text[at], a colon, could start "://" or an emoji. Times of day (09:26:53) are none.
bool colon_means(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at + 1);
  if (rest.starts_with("//")) return true;
  std::size_t length = 0;
  bool digits = true;
  for (; length < rest.size() && (word_sign(rest[length]) || rest[length] == '+'); ++length)
    digits = digits && std::isdigit(static_cast<unsigned char>(rest[length])) != 0;
  return length > 0 && length < rest.size() && rest[length] == ':' && !(digits && length == 2);
}

// Whether text[at], an @, could start a mention or stand in an address; in twenty-chunks@desktop it does not.
bool at_means(std::string_view text, std::size_t at) {
  if (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) return true;
  std::size_t end = at + 1;
  while (end < text.size() && word_sign(text[end])) ++end;
  return end < text.size() && (text[end] == '.' || text[end] == '/' || text[end] == '@');
}

// Running text. Punctuation becomes references, which no Markdown takes for its own signs, or gets a backslash.
// Newlines become breaks: the text stays on its line.
std::string escape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool word_follows = i + 1 < text.size() && word_sign(text[i + 1]);
    if (c == '\n') {
      out += "<br>";
    } else if (c == '\t' || c == '\r') {
      out += ' ';
    } else if (std::string_view("&<>\"\\`|~$[]").find(c) != std::string_view::npos) {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else if (c == '*' || c == '_') {
      out += '\\';
      out += c;
    } else if (c == '@' || c == '#') {
      out += fmt::format("&#{};{}", static_cast<int>(c), c == '#' || at_means(text, i) ? kGap : "");
    } else if ((c == ':' && colon_means(text, i)) || ((c == '!' || c == '%') && word_follows)) {
      out += c;
      out += kGap;
    } else if (c == '.' && ends_in(out, "www")) {
      out += kGap;
      out += c;
    } else if (c == '-' && ends_in(out, "gh")) {
      out += c;
      out += kGap;
    } else {
      out += c;
    }
  }
  return out;
}

// Ids, hashes: a code span where every character is harmless.
std::string code(std::string_view text) {
  const bool harmless = !text.empty() && text.front() != '@' && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_.@:+=/").find(c) != std::string_view::npos;
  });
  return harmless ? fmt::format("`{}`", text) : escape(text);
}

// A block as it is. The fence is longer than every run of backticks inside, so nothing inside ends it.
std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

// Blocks and rows up to the limit. After the first that does not fit nothing is taken any more.
class Page {
 public:
  void add(const std::string& piece) {
    constexpr std::size_t kNote = 200;
    cut_ = cut_ || text_.size() + piece.size() + kNote > kMarkdownLimit;
    if (!cut_) text_ += piece;
  }
  std::string take() && {
    if (cut_) text_ += "\n_Cut here: there is more than fits in one comment. The report holds all of it._\n";
    return std::move(text_);
  }

 private:
  std::string text_;
  bool cut_ = false;
};

std::string heading(const Report& report) {
  std::string out =
      fmt::format("## Lab {} {}: {}\n\n", code(report.lab_id), code(report.lab_version), code(report.name));
  out += fmt::format("**Verdict:** {}\n\n", escape(report.verdict));
  if (report.score) {
    out += fmt::format("**Score:** {} / {}, {} (pass mark {} %)\n", points_text(*report.score),
                       points_text(report.max_score), report.passed ? "passed" : "not passed",
                       points_text(report.pass_mark));
  } else {
    out += "**Score:** none; the run ended in a fault that is not the submission's\n";
  }
  return out;
}

std::string next_step(const Report& report) {
  if (!report.next_step) return {};
  std::string out = fmt::format("\n**Next:** {}\n", escape(report.next_step->text));
  if (!report.next_step->command.empty()) out += "\n" + fenced(report.next_step->command, "sh");
  return out;
}

std::string_view word_of(std::string_view status) {
  for (const std::string_view known : {"passed", "partial", "failed", "skipped"})
    if (status == known) return known;
  return "fault";
}

void add_table(const Report& report, Page& page) {
  if (report.checks.empty()) return;
  page.add("\n### Checks\n\n| Check | Task | Result | Points | What holds |\n|---|--:|---|--:|---|\n");
  for (const Check& check : report.checks) {
    page.add(fmt::format("| {} | {} | {} | {} / {} | {}{} |\n", code(check.id), check.task, word_of(check.status),
                         points_text(check.points), points_text(check.max_points), escape(check.title),
                         check.hidden ? " (hidden)" : ""));
  }
}

std::string point(std::string_view label, const std::string& text) {
  return text.empty() ? std::string() : fmt::format("- **{}:** {}\n", label, escape(text));
}

std::string explanation(const Check& check, const Check& cause) {
  std::string out = fmt::format("\n#### {}: {}\n\n", code(check.id), escape(check.title));
  if (&cause != &check) return out + fmt::format("- **Cause:** lost with {}\n", code(cause.id));
  // The evidence often quotes the reason.
  if (!check.explain || check.explain->evidence != check.reason.text) out += point("Reason", check.reason.text);
  if (!check.explain) return out;
  const Explain& e = *check.explain;
  return out + point("What", e.what) + point("Where", e.where) + point("Cause", e.cause) + point("Next", e.next) +
         point("Evidence", e.evidence);
}

void add_lost(const Report& report, Page& page) {
  const auto causes = causes_of(report);
  bool first = true;
  for (const Check& check : report.checks) {
    if (!lost(check)) continue;
    if (first) page.add("\n### Lost points\n");
    first = false;
    page.add(explanation(check, *causes.at(&check)));
  }
}

// The first lines of the first case in which the submission printed something.
std::string printed(const Report& report) {
  constexpr int kLines = 20;
  for (const Case& one : report.cases) {
    if (one.output.empty()) continue;
    std::string head;
    std::istringstream lines(one.output);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      if (count < kLines) head += line + "\n";
    std::string out = fmt::format("\n### Printed in {}\n\n{}", code(one.id), fenced(head, "text"));
    if (count > kLines) out += fmt::format("\n… {} more lines: see the report\n", count - kLines);
    return out;
  }
  return {};
}

void add_environment(const Report& report, Page& page) {
  if (report.environment.empty() && report.notes.empty()) return;
  page.add("\n### Environment\n\n| | |\n|---|---|\n");
  for (const auto& [name, value] : report.environment) page.add(fmt::format("| {} | {} |\n", name, escape(value)));
  if (!report.hash.empty()) page.add(fmt::format("| submission | {} |\n", code(report.hash)));
  if (!report.notes.empty()) page.add("\n");
  for (const std::string& note : report.notes) page.add(point("Note", note));
}

}  // namespace

std::string render_markdown(const nlohmann::json& json) {
  const Report report = read_report(json);
  Page page;
  page.add(heading(report));
  page.add(next_step(report));
  add_table(report, page);
  add_lost(report, page);
  page.add(printed(report));
  add_environment(report, page);
  return std::move(page).take();
}

}  // namespace labrig::reports
