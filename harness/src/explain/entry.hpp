// What `labrig explain` knows: one entry a mistake or symptom. Entries are data (entries/*.toml, docs/explain.md says
// how to add one); further ones are made of the checks of the labs there are. Read next: match.hpp (how a text finds
// its entry).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "labrig/error.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::explain {

struct Entry {
  std::string id, title;
  std::vector<std::string> causes;  // the most frequent first
  std::string check;                // quick: what to look at
  std::string fix;
  std::vector<std::string> avoid;  // remedies that are often repeated and wrong
  std::string lab;                 // that teaches it; empty when none does
  std::vector<std::string> facts;  // F ids

  // What leads here. A text may stand in several entries; the longer match wins.
  std::vector<std::string> codes;     // error codes and reason codes
  std::vector<std::string> patterns;  // of messages: letters and digits count, * stands for anything
  std::vector<std::string> symptoms;  // as people put it, in any order of words
};

// Words that mean the same in a symptom: each list's first stands for all.
using Synonyms = std::vector<std::vector<std::string>>;

struct Catalogue {
  std::vector<Entry> entries;
  Synonyms synonyms;
};

// Every *.toml of the folder, by name. Error `bad-entries` with file, line and column; `no-installation` when there is
// none.
Result<Catalogue> read_catalogue(const std::filesystem::path& folder);

// One entry for each check of a lab: found by its id, its reason codes, its failed title and the texts of its reasons;
// and one for each code that the check has words of its own for.
std::vector<Entry> entries_of_checks(const spec::LabSpec& lab);

}  // namespace labrig::explain
