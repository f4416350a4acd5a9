#include "doctor/answer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace labrig::doctor {
namespace {

constexpr std::size_t kWidth = 80, kTextColumn = 24;

// Words; a command between backquotes, with what clings to it, is one.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  bool command = false;
  for (const char letter : text) {
    if (letter == '`') command = !command;
    if (letter == '\n' || (letter == ' ' && !command))
      words.emplace_back();
    else
      words.back() += letter;
  }
  std::erase(words, "");
  return words;
}

std::size_t columns_of(const std::string& text) {  // of UTF-8: bytes that begin a character
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string closing_line(const std::vector<Check>& checks) {
  if (!fit(checks)) return "Something that labrig needs is missing: see `fail` above.\n";
  const auto card = std::ranges::find(checks, "card", &Check::id);
  const bool measured = card != checks.end() && card->facts.value("usable", 0) > 0;
  return measured ? "This machine is fit for labrig: graded on the simulated card, measured on the real one.\n"
                  : "This machine is fit for labrig: everything is graded on the simulated card.\n";
}

}  // namespace

const char* name_of(Status status) {
  static constexpr const char* kNames[] = {"ok", "warn", "fail", "skipped"};
  return kNames[static_cast<int>(status)];
}

bool fit(const std::vector<Check>& checks) {
  return std::ranges::none_of(checks, [](const Check& check) { return check.status == Status::fail; });
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  for (const std::string& word : words_of(text)) {
    const std::size_t length = columns_of(word);
    if (column > indent && column + 1 + length > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += length;
  }
  return result;
}

std::string to_text(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    text += fmt::format("{:<7} {:<15} {}\n", name_of(check.status), check.id, wrapped(check.what, kTextColumn, kWidth));
    if (!check.why.empty()) text += fmt::format("{:>22}: {}\n", "why", wrapped(check.why, kTextColumn, kWidth));
    if (!check.fix.empty()) text += fmt::format("{:>22}: {}\n", "fix", wrapped(check.fix, kTextColumn, kWidth));
  }
  return text + closing_line(checks);
}

nlohmann::ordered_json to_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    nlohmann::ordered_json row = {{"id", check.id}, {"status", name_of(check.status)}, {"what", check.what}};
    if (!check.why.empty()) row["why"] = check.why;
    if (!check.fix.empty()) row["fix"] = check.fix;
    row["facts"] = check.facts;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace labrig::doctor
