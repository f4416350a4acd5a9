// How much a text is like a symptom: the words they share, each weighed by how rare it is among all symptoms ("loss"
// says little, "empty_cache" much). A text that shares too little with every symptom is about something else.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "explain/entry.hpp"

namespace labrig::explain {

class Symptoms {
 public:
  explicit Symptoms(const Catalogue& catalogue);

  struct Likeness {
    const std::string* symptom = nullptr;
    double share = 0;  // 0 when too little is shared
  };
  // Of the entry's symptom that is most like the text.
  Likeness best(const Entry& entry, std::string_view text) const;

 private:
  // Each word once, by the word that stands for its synonyms, without those that say nothing ("the", "my").
  std::set<std::string> words(std::string_view text) const;
  double weight(const std::set<std::string>& words) const;

  std::map<std::string, std::string> stands_for_;
  std::map<std::string, double> weights_;
  double weight_of_unknown_ = 0;
};

}  // namespace labrig::explain
