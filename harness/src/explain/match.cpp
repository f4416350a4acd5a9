#include "explain/match.hpp"

#include <algorithm>
#include <optional>

#include "explain/numbers.hpp"
#include "explain/pasted.hpp"
#include "explain/symptoms.hpp"

namespace labrig::explain {

namespace {

constexpr std::size_t kMostMatches = 5;
// What a * of a pattern may stand for, in squeezed letters: a few numbers, shapes and names, not half a log.
constexpr std::size_t kMostBetween = 200;

struct Scored {
  Match match;
  double score = 0;
};

std::vector<Match> best_first(std::vector<Scored> scored) {
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  std::vector<Match> matches;
  for (Scored& each : scored)
    if (matches.size() < kMostMatches) matches.push_back(std::move(each.match));
  return matches;
}

// --- codes -----------------------------------------------------------------------------------------------------------

bool is_of_a_code(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '/';
}

// The runs of letters, digits, '-', '_' and '/'.
std::vector<std::string_view> possible_codes(std::string_view text) {
  std::vector<std::string_view> codes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t end = at;
    while (end < text.size() && is_of_a_code(text[end])) ++end;
    if (end > at) codes.push_back(text.substr(at, end - at));
    at = end;
  }
  return codes;
}

std::vector<Match> with_code(const Catalogue& catalogue, std::string_view code) {
  std::vector<Scored> found;
  for (const Entry& entry : catalogue.entries) {
    const bool by_code = std::find(entry.codes.begin(), entry.codes.end(), code) != entry.codes.end();
    if (entry.id == code || by_code) found.push_back({{&entry, std::string(code), ""}, entry.id == code ? 2. : 1.});
  }
  return best_first(found);
}

// A judge may add the name of what it met to a code: "device-mismatch-features".
std::vector<Match> with_code_or_its_beginning(const Catalogue& catalogue, std::string_view code) {
  std::vector<Match> found = with_code(catalogue, code);
  while (found.empty() && std::count(code.begin(), code.end(), '-') > 1)
    found = with_code(catalogue, code = code.substr(0, code.rfind('-')));
  return found;
}

// "wait" is a word of any text; "host-write-in-flight" is not.
std::vector<Match> with_code_among(const Catalogue& catalogue, const std::vector<std::string_view>& words) {
  for (const std::string_view word : words)
    if (word.find_first_of("-_") != std::string_view::npos)
      if (std::vector<Match> found = with_code(catalogue, word); !found.empty()) return found;
  return {};
}

// --- patterns --------------------------------------------------------------------------------------------------------

std::vector<std::string> parts_of(std::string_view pattern) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= pattern.size();) {
    const std::size_t star = std::min(pattern.find('*', at), pattern.size());
    if (std::string part = squeezed(pattern.substr(at, star - at)); !part.empty()) parts.push_back(std::move(part));
    at = star + 1;
  }
  return parts;
}

// Whether the parts from `first` on stand in `text` one after another, each near the one before, the last at `end` or
// later.
bool stand_in(const std::vector<std::string>& parts, std::size_t first, std::string_view text, std::size_t from,
              std::size_t end) {
  if (first == parts.size()) return from > end;
  const std::size_t last = first == 0 ? text.size() : from + kMostBetween;
  for (std::size_t at = text.find(parts[first], from); at <= last && at != std::string_view::npos;
       at = text.find(parts[first], at + 1))
    if (stand_in(parts, first + 1, text, at + parts[first].size(), end)) return true;
  return false;
}

// The longest pattern of the entry that stands in the squeezed text and ends behind `end`.
std::optional<Scored> best_pattern(const Entry& entry, std::string_view text, std::size_t end) {
  Scored best;
  for (const std::string& pattern : entry.patterns) {
    const std::vector<std::string> parts = parts_of(pattern);
    double letters = 0;
    for (const std::string& part : parts) letters += static_cast<double>(part.size());
    if (letters > best.score && stand_in(parts, 0, text, 0, end)) best = {{&entry, pattern, ""}, letters};
  }
  if (best.score == 0) return std::nullopt;
  return best;
}

std::vector<Match> by_pattern(const Catalogue& catalogue, const Pasted& pasted) {
  constexpr double kInTheMessage = 1e6;  // more than any pattern has letters
  const std::string text = squeezed(pasted.text);
  const std::size_t message = text.size() - squeezed(pasted.message).size();
  std::vector<Scored> found;
  for (const Entry& entry : catalogue.entries) {
    std::optional<Scored> best = best_pattern(entry, text, message);
    if (best) best->score += kInTheMessage;
    if (!best) best = best_pattern(entry, text, 0);
    if (best) found.push_back(std::move(*best));
  }
  return best_first(std::move(found));
}

// --- numbers ---------------------------------------------------------------------------------------------------------

constexpr std::string_view kEntryOfCards = "invalid-device-number", kEntryOfScales = "scale-falls";

std::vector<Match> by_numbers(const Catalogue& catalogue, const Pasted& pasted) {
  std::vector<Match> found;
  if (is_log_of_scales(pasted.text)) {
    found = with_code(catalogue, kEntryOfScales);
    for (Match& match : found) match.by = "numbers that double and halve";
  } else if (!visible_cards_note(pasted.text).empty()) {
    found = with_code(catalogue, kEntryOfCards);
    for (Match& match : found) match.by = "CUDA_VISIBLE_DEVICES";
  }
  return found;
}

void add_notes(std::vector<Match>& matches, const Pasted& pasted) {
  for (Match& match : matches)
    if (match.entry->id == kEntryOfCards) match.note = visible_cards_note(pasted.text);
}

// --- symptoms --------------------------------------------------------------------------------------------------------

std::vector<Match> by_symptom(const Catalogue& catalogue, const Pasted& pasted) {
  if (!pasted.message.empty() || squeezed(pasted.text).find("error") == 0) return {};
  const Symptoms symptoms(catalogue);
  std::vector<Scored> found;
  for (const Entry& entry : catalogue.entries) {
    const Symptoms::Likeness best = symptoms.best(entry, pasted.text);
    if (best.share > 0) found.push_back({{&entry, *best.symptom, ""}, best.share});
  }
  return best_first(std::move(found));
}

}  // namespace

std::vector<Match> find_entries(const Catalogue& catalogue, std::string_view text) {
  const Pasted pasted = read_pasted(text);
  const std::vector<std::string_view> codes = possible_codes(pasted.text);
  std::vector<Match> found;
  if (codes.size() == 1) found = with_code_or_its_beginning(catalogue, codes.front());
  if (found.empty()) found = by_pattern(catalogue, pasted);
  if (found.empty()) found = with_code_among(catalogue, codes);
  if (found.empty()) found = by_numbers(catalogue, pasted);
  if (found.empty()) found = by_symptom(catalogue, pasted);
  add_notes(found, pasted);
  return found;
}

}  // namespace labrig::explain
