#include "line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

namespace labrig::app {
namespace {

// How many letters must be put in, taken out or changed.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

const CLI::App* command_named(const CLI::App& parent, const std::string& word) {
  // The hidden ones too: who knows them may call them.
  for (const CLI::App* command : parent.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == word) return command;
  return nullptr;
}

void read_option(Line& line, const std::string& word) {
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const CLI::Option* option = find_option(line.path, word.substr(0, equals));
  if (option == nullptr) {
    if (line.wrong_option.empty()) line.wrong_option = word.substr(0, equals);
    return;
  }
  const bool has_value = equals != std::string::npos;
  if (has_value || !takes_value(*option))
    line.given.push_back({option, has_value ? word.substr(equals + 1) : "", has_value});
  line.open = takes_value(*option) && (!has_value || takes_many(*option)) ? option : nullptr;
  line.open_needs_value = !has_value;
}

void read_word(Line& line, const std::string& word) {
  const CLI::App& command = line.command();
  if (command.get_subcommands([](const CLI::App*) { return true; }).empty()) {
    line.words.push_back(word);
  } else if (const CLI::App* below = command_named(command, word)) {
    line.path.push_back(below);
  } else {
    line.wrong_command = word;
  }
}

}  // namespace

bool Line::has(const CLI::Option* option) const {
  return std::any_of(given.begin(), given.end(), [&](const Given& one) { return one.option == option; });
}

Line read_line(const CLI::App& program, const std::vector<std::string>& words) {
  Line line;
  line.path.push_back(&program);
  for (const std::string& word : words) {
    if (!line.wrong_command.empty()) break;  // whose options the others are is not known
    const bool is_option = !line.only_words && word.size() > 1 && word[0] == '-';
    if (line.open != nullptr && (line.open_needs_value || !is_option)) {
      line.given.push_back({line.open, word, true});
      if (!takes_many(*line.open)) line.open = nullptr;
      line.open_needs_value = false;
    } else if (is_option && word == "--") {
      line.only_words = true;
      line.open = nullptr;
    } else if (is_option) {
      read_option(line, word);
    } else {
      read_word(line, word);
    }
  }
  return line;
}

const CLI::Option* find_option(const std::vector<const CLI::App*>& path, const std::string& word) {
  for (auto command = path.rbegin(); command != path.rend(); ++command)
    for (const CLI::Option* option : (*command)->get_options()) {
      const bool same =
          word.starts_with("--") ? option->check_lname(word.substr(2)) : option->check_sname(word.substr(1));
      if (same) return option;
    }
  return nullptr;
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string found, longer;
  std::size_t least = 3;  // more than two letters off is another word
  for (const std::string& candidate : candidates) {
    const std::size_t off = edits(word, candidate);
    if (off < least && off + 1 < word.size()) least = off, found = candidate;
    if (word.size() > 2 && candidate.starts_with(word) && (longer.empty() || candidate.size() < longer.size()))
      longer = candidate;  // its beginning
  }
  return longer.empty() ? found : longer;
}

std::string guess_or(const std::string& word, const std::vector<std::string>& candidates, const std::string& other) {
  const std::string guess = nearest(word, candidates);
  return guess.empty() ? other : "did you mean '" + guess + "'?";
}

}  // namespace labrig::app
