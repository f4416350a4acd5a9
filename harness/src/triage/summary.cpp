// Reading a memory summary, and what it says by itself.
#include "triage/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "triage/advice.hpp"

namespace labrig::triage {
namespace {

constexpr std::array kRows = {"allocated memory",     "active memory",         "requested memory",
                              "gpu reserved memory",  "non-releasable memory", "allocations",
                              "active allocs",        "gpu reserved segments", "non-releasable allocs",
                              "oversize allocations", "oversize gpu segments"};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_gap(char c) { return c == ' ' || c == '|' || c == '\t' || c == '\n' || c == '\r'; }

// "OOMs: 1": the number behind a label.
std::optional<std::int64_t> count_behind(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t start = at + label.size();
  while (start < text.size() && (text[start] == ' ' || text[start] == ':')) ++start;
  const std::optional<NumberAt> number = number_at(text.substr(start, 32));
  if (!number || number->value > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(number->value);
}

// A figure of a row: "26377 MB", "512 B", or a count "1067", "750 K". Moves `at` behind it.
std::optional<Amount> figure_at(std::string_view text, std::size_t& at, bool is_count) {
  std::size_t start = at;
  while (start < text.size() && is_gap(text[start])) ++start;
  const std::optional<NumberAt> number = number_at(text.substr(start, 32));
  if (!number) return std::nullopt;
  std::size_t unit_start = start + number->length;
  while (unit_start < text.size() && text[unit_start] == ' ') ++unit_start;
  std::size_t unit_end = unit_start;
  while (unit_end < text.size() && is_letter(text[unit_end])) ++unit_end;
  const std::string_view word = text.substr(unit_start, unit_end - unit_start);
  if (is_count) {
    const double factor = word == "k" ? 1e3 : word == "m" ? 1e6 : 1;
    at = factor > 1 ? unit_end : start + number->length;
    return exactly(number->value * factor);
  }
  const std::optional<std::string> unit = unit_named(word);
  if (!unit) return std::nullopt;  // cut inside a figure
  at = unit_end;
  const double bytes = bytes_in(*unit);
  // Sizes are rounded down.
  return Amount{number->value * bytes, bytes, *unit, fmt::format("{:.0f} {}", number->value, *unit)};
}

// The size of a block that is there, else 0.
double current(const Summary& s, const char* name) {
  const SummaryRow* row = s.row(name);
  return row && row->current ? row->current->bytes : 0;
}

void say_what_was_read(const Summary& s, Diagnosis& d) {
  if (s.ooms)
    d.evidence.push_back(fmt::format("CUDA OOMs: {}, cudaMalloc retries (flushes of the cache): {}", *s.ooms,
                                     s.retries ? fmt::to_string(*s.retries) : "not given"));
  for (const char* name : {"allocated memory", "gpu reserved memory", "non-releasable memory"}) {
    const SummaryRow* row = s.row(name);
    if (!row || !row->current) {
      d.unread.push_back(fmt::format("the row \"{}\": not in the text, or cut", name));
      continue;
    }
    d.evidence.push_back(
        fmt::format("{}: {}{}", name, row->current->text, row->peak ? ", at most " + row->peak->text : std::string()));
    std::string key = std::string(name) + "_bytes";
    std::replace_if(key.begin(), key.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
    d.numbers.push_back({key, row->current->bytes});
  }
  d.unread.push_back("the card's total and free memory: a summary does not say them, nor who else is on the card");
}

}  // namespace

Summary read_summary(std::string_view original) {
  std::string text(original);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  Summary summary;
  // Nothing but a summary has a row of bars.
  if (text.find("memory summary") == std::string::npos && text.find("cudamalloc retries") == std::string::npos &&
      text.find("cur usage") == std::string::npos)
    return summary;
  if (const auto device = count_behind(text, "device id")) summary.device = static_cast<int>(*device);
  summary.ooms = count_behind(text, "ooms");
  summary.retries = count_behind(text, "malloc retries");
  for (const char* name : kRows) {
    const std::string_view word = name;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      if (at > 0 && is_letter(text[at - 1]))
        continue;  // "non-releasable allocs" holds no other name, "reallocations" would
      const bool is_count = word.find("memory") == std::string_view::npos;
      std::size_t next = at + word.size();
      SummaryRow row;
      row.current = figure_at(text, next, is_count);
      if (!row.current) continue;
      row.peak = figure_at(text, next, is_count);
      row.allocated = figure_at(text, next, is_count);
      row.freed = figure_at(text, next, is_count);
      summary.cut = summary.cut || !row.freed;
      summary.rows.emplace(name, std::move(row));
      break;
    }
  }
  return summary;
}

Diagnosis diagnose(const Summary& s) {
  Diagnosis d;
  d.kind = "summary";
  say_what_was_read(s, d);
  const double allocated = current(s, "allocated memory"), reserved = current(s, "gpu reserved memory"),
               pieces = current(s, "non-releasable memory");
  const bool failed = s.ooms.value_or(0) > 0;
  const std::string unit = s.row("gpu reserved memory") ? s.row("gpu reserved memory")->current->unit : "MiB";
  if (reserved > 0)
    d.evidence.push_back(fmt::format("reserved {} - allocated {} = {} unallocated, of which {} lie in split segments",
                                     number_in(reserved, unit), number_in(allocated, unit),
                                     size_in(std::max(0.0, reserved - allocated), unit), size_in(pieces, unit)));
  if (reserved > 0 && failed && pieces >= 0.1 * reserved) {
    d.cause = "fragmentation";
    d.title = "Fragmentation: a large part of the cache lies in pieces that cannot be given back";
    d.todo = {"set PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF in older releases)",
              "allocate the large tensors first and keep shapes fixed; find the small tensors that live long"};
    d.avoid = {"do not call empty_cache each step: it cannot return segments of which a part is in use"};
  } else if (failed && allocated > 0) {
    d.cause = "capacity";
    d.title = "Capacity: tensors hold what the cache holds, and more did not fit";
    d.todo = capacity_advice();
    d.avoid = {"do not call empty_cache: the cache is flushed before a request fails"};
  } else if (s.retries.value_or(0) > 0) {
    d.cause = "near_the_limit";
    d.title = "Near the limit: the cache had to be flushed to go on";
    d.todo = {"leave spare room (a smaller batch, fewer kept tensors): each flush stops the card"};
    d.avoid = {"do not read this as a leak: nothing failed"};
  } else if (reserved > 0 && s.ooms) {
    d.cause = "healthy";
    d.title = "Healthy: reserved above allocated is caching";
    d.todo = {"nothing; compare two summaries some steps apart: only a rising allocated would be a leak"};
    d.avoid = {"do not call empty_cache to make reserved smaller: it is given back when it is needed"};
  } else {
    d.cause = "unknown";
    d.title = "The summary is cut before the rows that decide";
    d.todo = {"paste the whole table, with the rows of reserved and non-releasable memory"};
    d.avoid = {"do not change settings before these rows are known"};
  }
  if (s.cut) d.unread.push_back("the last row is cut");
  return d;
}

}  // namespace labrig::triage
