// What comes out of every kind of comparison, and its two forms: lines for people and one JSON object for programs.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conform/json_file.hpp"

namespace labrig::conform {

// The first thing in which one recorded entry and ours are not the same.
struct Difference {
  std::string where;             // "entry 5 (matmul), grad_inputs[0][3]"
  nlohmann::ordered_json place;  // the same for programs: {"entry": 5, "op": "matmul", …}
  std::string key;               // what was compared: a statistic, "output", "what"
  std::string expected, got;
};

// Figures of each entry side by side, for kinds whose answer is more than yes or no.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct Outcome {
  std::string kind;
  std::string device;          // on which ours ran; empty where none takes part
  std::string word = "exact";  // what an entry that passes is
  std::size_t total = 0;       // entries that were compared
  std::size_t passed = 0;
  std::vector<Difference> differences;  // of each entry that did not pass, in the order of the file

  // Entries that were not compared: a name (operator, key), and why.
  std::map<std::string, std::string> left_out;
  std::set<std::string> ignored;                                      // keys of the file that nobody here knows
  std::vector<std::string> notes;                                     // a sentence each
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();  // of this kind, for programs
  Table table;

  bool ok() const { return passed == total; }
  void pass() { ++total, ++passed; }
  void differ(Difference difference) { ++total, differences.push_back(std::move(difference)); }
};

std::string to_text(const Outcome& outcome);
nlohmann::ordered_json to_json(const Outcome& outcome);

}  // namespace labrig::conform
