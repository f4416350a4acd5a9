// Reading tables of memory readings.
#include "triage/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "triage/amount.hpp"

namespace labrig::triage {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\"'").find(text.front()) != text.npos) text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\"'").find(text.back()) != text.npos) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find_first_of("\r\n", at);
    if (end == std::string_view::npos) end = text.size();
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Cells of one line; a delimiter inside quotation marks is text.
std::vector<std::string_view> cells_of(std::string_view line, char delimiter) {
  std::vector<std::string_view> cells;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || line[i] != delimiter)) continue;
    cells.push_back(trimmed(line.substr(start, i - start)));
    start = i + 1;
  }
  return cells;
}

char delimiter_of(std::string_view heading) {
  char best = ',';
  for (const char c : {';', '\t', '|'})
    if (std::count(heading.begin(), heading.end(), c) > std::count(heading.begin(), heading.end(), best)) best = c;
  return best;
}

bool has_any(const std::string& name, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&name](const char* word) { return name.find(word) != std::string::npos; });
}

// What a column holds, "" for none of ours.
std::string what_of(const std::string& name) {
  if (has_any(name, {"reserved", "cached"})) return "reserved";
  if (has_any(name, {"total", "capacity"})) return "total";
  if (has_any(name, {"free"})) return "free";
  if (has_any(name, {"peak", "max_"})) return "peak";
  if (has_any(name, {"alloc", "used", "usage", "memory", "mem_", "_mem", "in_use"}) || name == "mem")
    return "allocated";
  return "";
}

std::string version_of(const std::string& name) {
  if (has_any(name, {"before", "_old", "old_", "without_fix", "unfixed"})) return "before";
  if (has_any(name, {"after", "_new", "new_", "with_fix", "fixed"})) return "after";
  return "";
}

std::string unit_of(const std::string& name) {
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("_ ()[]-.", start), name.size());
    const std::string word = name.substr(start, end - start);
    if (word.size() >= 2 && unit_named(word)) {
      if (word == "bytes" || word == "byte") return "bytes";
      return static_cast<char>(word[0] - 32) + std::string(word.size() == 3 ? "iB" : "B");
    }
    start = end + 1;
  }
  return "";
}

std::string phase_of(std::string_view cell) {
  const std::string word = lower(cell);
  if (word.starts_with("train") || word == "fit") return "train";
  if (word.starts_with("eval") || word.starts_with("val") || word.starts_with("test") || word.starts_with("infer"))
    return "eval";
  return word;
}

// A cell with a number and perhaps a unit: "3383", "3.4 GB". In the column's own unit.
std::optional<double> value_of(std::string_view cell, double& factor) {
  const std::optional<NumberAt> number = number_at(cell);
  if (!number) return std::nullopt;
  const std::string_view rest = trimmed(cell.substr(number->length));
  factor = 1;
  if (rest.empty()) return number->value;
  const std::optional<std::string> unit = unit_named(rest);
  if (!unit) return std::nullopt;
  factor = bytes_in(*unit);
  return number->value;
}

}  // namespace

const Column* Readings::find(std::string_view what, std::string_view version) const {
  for (const Column& column : columns)
    if (column.what == what && column.version == version) return &column;
  return nullptr;
}

std::optional<Readings> read_readings(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  // The heading: the first line that is no comment; above it nothing but comments and blanks.
  std::size_t first = 0;
  while (first < lines.size() && (trimmed(lines[first]).empty() || trimmed(lines[first]).starts_with('#'))) ++first;
  if (first >= lines.size()) return std::nullopt;
  const char delimiter = delimiter_of(lines[first]);
  const std::vector<std::string_view> names = cells_of(lines[first], delimiter);
  if (names.size() < 2 || names.size() > 200) return std::nullopt;

  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  Readings result;
  std::size_t phase_at = kNone, step_at = kNone;
  std::vector<std::pair<std::size_t, Column>> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = lower(names[i]);
    if (number_at(name)) return std::nullopt;  // a row of numbers is no heading
    if (has_any(name, {"phase", "mode", "stage", "split"})) {
      phase_at = phase_at == kNone ? i : phase_at;
    } else if (has_any(name, {"step", "iter", "epoch", "batch_idx"}) || name == "i" || name == "time") {
      step_at = step_at == kNone ? i : step_at;
    } else if (const std::string what = what_of(name); !what.empty()) {
      columns.emplace_back(i, Column{std::string(names[i]), what, version_of(name), unit_of(name), {}});
    }
  }
  if (columns.empty()) return std::nullopt;
  result.has_phase = phase_at != kNone, result.has_step = step_at != kNone;

  for (std::size_t line = first + 1; line < lines.size(); ++line) {
    if (trimmed(lines[line]).starts_with('#')) continue;
    const std::vector<std::string_view> cells = cells_of(lines[line], delimiter);
    const std::int64_t row = result.rows++;
    Reading reading{row, phase_at < cells.size() ? phase_of(cells[phase_at]) : "", static_cast<double>(row), 0};
    if (step_at < cells.size())
      if (const auto step = number_at(cells[step_at])) reading.step = step->value;
    for (auto& [at, column] : columns) {
      double factor = 1;
      const std::optional<double> value = at < cells.size() ? value_of(cells[at], factor) : std::nullopt;
      if (!value) {
        if (result.unread.size() < 20)
          result.unread.push_back(fmt::format("row {}, {}: {}", row, column.name,
                                              at < cells.size() && !cells[at].empty()
                                                  ? "\"" + std::string(cells[at].substr(0, 40)) + "\" is no size"
                                                  : "empty"));
        continue;
      }
      if (factor > 1) column.unit = "bytes";
      reading.value = *value * factor;
      column.readings.push_back(reading);
    }
  }
  for (auto& [at, column] : columns)
    if (!column.readings.empty()) result.columns.push_back(std::move(column));
  if (result.columns.empty()) return std::nullopt;
  return result;
}

}  // namespace labrig::triage
