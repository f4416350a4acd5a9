#include "explain/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "explain/pasted.hpp"

namespace labrig::explain {

namespace {

// The whole number at `at`, which moves behind it; nothing when there is none.
std::optional<int> take_number(std::string_view text, std::size_t& at) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (at >= text.size() || error != std::errc() || text[at] == '-') return std::nullopt;
  at = static_cast<std::size_t>(end - text.data());
  return number;
}

std::size_t behind(std::string_view text, std::size_t at, std::string_view blanks) {
  return std::min(text.find_first_not_of(blanks, at), text.size());
}

// "CUDA_VISIBLE_DEVICES=4,5,6,7", "CUDA_VISIBLE_DEVICES: '4, 5'".
std::vector<int> visible_cards(std::string_view text) {
  constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES";
  std::vector<int> cards;
  for (std::size_t at = text.find(kName); at != std::string_view::npos && cards.empty(); at = text.find(kName, at)) {
    at = behind(text, at + kName.size(), " =:'\"[");
    while (const std::optional<int> card = take_number(text, at)) {
      cards.push_back(*card);
      if (at >= text.size() || text[at] != ',') break;
      at = behind(text, at + 1, " ");
    }
  }
  return cards;
}

// The last number that stands behind one of the words with which a card is asked for.
std::optional<int> asked_card(std::string_view text) {
  std::optional<int> asked;
  std::size_t last = 0;
  for (const std::string_view word : {"cuda:", "device ", "device=", "set_device(", "index ", "index=", "ordinal ",
                                      "rank ", "rank=", "rank: ", "gpu ", "GPU "})
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at)) {
      at += word.size();
      if (at < last) continue;
      if (const std::optional<int> number = take_number(text, at)) asked = number, last = at;
    }
  return asked;
}

std::string in_words(const std::vector<int>& cards) {
  std::string list;
  for (const int card : cards) list += (list.empty() ? "" : ",") + std::to_string(card);
  const std::size_t last = cards.size() - 1;
  return "CUDA_VISIBLE_DEVICES=" + list +
         (last == 0 ? " shows one card, and here it is number 0"
                    : " shows " + std::to_string(cards.size()) + " cards, and here they are numbered 0 to " +
                          std::to_string(last));
}

// Those that stand close behind a word; all of them when it is empty.
std::vector<double> numbers_of(std::string_view text, std::string_view word) {
  constexpr std::size_t kClose = 4;  // "scale: 65536", "scale = 65536"
  std::vector<double> numbers;
  for (std::size_t at = text.find(word); at < text.size(); at = text.find(word, at)) {
    at += word.size();
    const std::size_t digit = text.find_first_of("0123456789", at);
    if (digit == std::string_view::npos) break;
    if (!word.empty() && digit > at + kClose) continue;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data() + digit, text.data() + text.size(), number);
    at = static_cast<std::size_t>(end - text.data());
    if (error == std::errc()) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::string visible_cards_note(std::string_view text) {
  const std::vector<int> cards = visible_cards(text);
  if (cards.empty()) return "";
  std::string note = in_words(cards);
  const std::optional<int> asked = asked_card(text);
  if (!asked || *asked < static_cast<int>(cards.size())) return note + ".";
  note += "; there is no number " + std::to_string(*asked);
  const auto found = std::find(cards.begin(), cards.end(), *asked);
  if (found == cards.end()) return note + ", and nvidia-smi's " + std::to_string(*asked) + " is not among them.";
  return note + ". The card that nvidia-smi calls " + std::to_string(*asked) +
         " is cuda:" + std::to_string(found - cards.begin()) + ".";
}

bool is_log_of_scales(std::string_view text) {
  const std::vector<double> behind_scale = numbers_of(text, "scale");
  const std::vector<double> numbers = behind_scale.empty() ? numbers_of(text, "") : behind_scale;
  // A list without the word has next to no words.
  if (behind_scale.empty() && words_of(text).size() > numbers.size() * 3) return false;
  std::size_t doubled = 0, others = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const double less = std::min(numbers[i - 1], numbers[i]), more = std::max(numbers[i - 1], numbers[i]);
    if (more == less) continue;
    ++(more == 2 * less ? doubled : others);
  }
  // Scales begin high; without a high one it takes more to tell them from other numbers.
  const bool high = std::any_of(numbers.begin(), numbers.end(), [](double number) { return number >= 1024; });
  return numbers.size() >= 3 && doubled >= (high ? 1 : 4) && others * 10 <= doubled;
}

}  // namespace labrig::explain
