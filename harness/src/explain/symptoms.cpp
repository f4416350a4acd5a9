#include "explain/symptoms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "explain/pasted.hpp"

namespace labrig::explain {

namespace {

// A longer text is a log or a page of prose, not a symptom.
constexpr std::size_t kMostWords = 40;

constexpr std::array<std::string_view, 79> kSaysNothing = {
    "a",    "about",   "after",  "all",  "am",   "an",   "and",    "any",  "are",   "as",    "at",   "be",
    "been", "but",     "by",     "can",  "do",   "does", "during", "even", "every", "for",   "from", "get",
    "gets", "getting", "got",    "had",  "has",  "have", "hello",  "help", "hi",    "how",   "i",    "if",
    "im",   "in",      "into",   "is",   "it",   "its",  "just",   "me",   "my",    "of",    "on",   "only",
    "or",   "our",     "please", "so",   "some", "than", "that",   "the",  "then",  "there", "they", "this",
    "to",   "using",   "very",   "was",  "we",   "were", "what",   "when", "where", "while", "why",  "will",
    "with", "would",   "you",    "your", "use",  "uses", "still"};

// Stands for "no", "does not", "without", … in words.toml.
constexpr std::string_view kNot = "not";

bool says_nothing(const std::string& word) {
  const bool number = std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number || std::find(kSaysNothing.begin(), kSaysNothing.end(), word) != kSaysNothing.end();
}

// "grows", "growing" and "grow" are one word.
std::string stem(std::string word) {
  for (const std::string_view ending : {"ing", "ed", "es", "s"})
    if (word.size() > ending.size() + 3 && word.ends_with(ending)) {
      word.resize(word.size() - ending.size());
      break;
    }
  if (word.size() > 4 && word.ends_with('e')) word.pop_back();
  return word;
}

std::set<std::string> common(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.begin()));
  return both;
}

}  // namespace

Symptoms::Symptoms(const Catalogue& catalogue) {
  for (const std::vector<std::string>& same : catalogue.synonyms)
    for (const std::string& word : same) stands_for_[stem(word)] = stem(same.front());
  std::map<std::string, int> entries_with;
  for (const Entry& entry : catalogue.entries) {
    std::set<std::string> here;
    for (const std::string& symptom : entry.symptoms) here.merge(words(symptom));
    for (const std::string& word : here) ++entries_with[word];
  }
  const auto all = static_cast<double>(catalogue.entries.size());
  for (const auto& [word, count] : entries_with) weights_[word] = std::log(1 + all / count);
  weight_of_unknown_ = std::log(1 + all);
}

std::set<std::string> Symptoms::words(std::string_view text) const {
  std::set<std::string> result;
  for (const std::string& word : words_of(text)) {
    if (says_nothing(word)) continue;
    const std::string stemmed = stem(word);
    const auto same = stands_for_.find(stemmed);
    result.insert(same == stands_for_.end() ? stemmed : same->second);
  }
  return result;
}

double Symptoms::weight(const std::set<std::string>& words) const {
  double sum = 0;
  for (const std::string& word : words) {
    const auto known = weights_.find(word);
    sum += known == weights_.end() ? weight_of_unknown_ : known->second;
  }
  return sum;
}

Symptoms::Likeness Symptoms::best(const Entry& entry, std::string_view text) const {
  Likeness best;
  const std::set<std::string> asked = words(text);
  if (asked.size() > kMostWords) return best;
  for (const std::string& symptom : entry.symptoms) {
    const std::set<std::string> known = words(symptom), both = common(asked, known);
    // "Not" and one more word are too little, unless that is all there is.
    if (both.size() - both.count(std::string(kNot)) < 2 && (both != known || both != asked)) continue;
    const double of_symptom = weight(both) / weight(known), of_text = weight(both) / weight(asked);
    // All of the symptom inside a longer text, or most of either.
    const bool enough = (of_symptom > 0.85 && of_text > 0.3) || (of_symptom > 0.5 && of_text > 0.5);
    const double share = 2 * of_symptom * of_text / (of_symptom + of_text);
    if (enough && share > best.share) best = {&symptom, share};
  }
  return best;
}

}  // namespace labrig::explain
