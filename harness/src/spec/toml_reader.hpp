// Reads a TOML file key by key. Every key is asked for by name and type, and what is left over is unknown; all mistakes
// are errors with file, line and column. Only toml_reader.cpp includes toml++.
//
//   TomlDocument document(text, file);            // throws `bad-toml`
//   TomlReader top = document.top("lab.toml", positions);
//   TomlReader lab = top.top_table("lab");
//   spec.id = lab.text("id");
//   lab.finish();                                 // refuses what nobody asked for
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/positions.hpp"

namespace labrig::spec {

class TomlDocument;

// One table of the file. Errors have the code and the file of `positions`.
class TomlReader {
 public:
  // Whether the key is there; from now on it is known.
  bool has(const std::string& key);

  std::string text(const std::string& key);
  std::string text(const std::string& key, const std::string& otherwise) { return has(key) ? text(key) : otherwise; }
  bool boolean(const std::string& key, bool otherwise);
  std::int64_t integer(const std::string& key);
  double number(const std::string& key);
  double number(const std::string& key, double otherwise) { return has(key) ? number(key) : otherwise; }
  std::int64_t positive(const std::string& key);
  std::int64_t positive(const std::string& key, std::int64_t otherwise) { return has(key) ? positive(key) : otherwise; }

  std::vector<std::string> texts(const std::string& key);
  std::vector<std::string> texts_or_none(const std::string& key) {
    return has(key) ? texts(key) : std::vector<std::string>{};
  }
  // A list of positive integers.
  std::vector<std::int64_t> positives(const std::string& key);

  // One of several words.
  template <class T>
  T word(const std::string& key, const std::vector<std::pair<std::string, T>>& words, std::optional<T> otherwise) {
    if (otherwise && !has(key)) return *otherwise;
    const std::string value = text(key);
    std::string expected;
    for (const auto& [name, meaning] : words) {
      if (name == value) return meaning;
      expected += (expected.empty() ? "\"" : ", \"") + name + '"';
    }
    wrong(key, "one of " + expected, '"' + value + '"');
  }

  bool is_table(const std::string& key);
  TomlReader table(const std::string& key);
  // The tables of [[key]], or of a list of tables; at least one.
  std::vector<TomlReader> tables(const std::string& key);
  TomlReader top_table(const std::string& key);
  std::vector<std::string> keys() const;

  // Refuses keys that nobody asked for.
  void finish() const;
  [[noreturn]] void wrong(const std::string& key, const std::string& expected, const std::string& seen) const;
  // "model.toml:12:1: ", for errors that are found later.
  std::string where() const { return positions_.at(path_); }

 private:
  friend class TomlDocument;
  // A node or a table of toml++, which only toml_reader.cpp knows.
  using Node = const void*;
  TomlReader(Node table, std::string name, std::string path, Positions& positions);

  std::string place(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  // `line`: what is to be added where it is missing; by default "key = …".
  Node require(const std::string& key, const std::string& line = "");
  template <class T>
  T typed(Node node, const std::string& key, const std::string& expected) const;
  TomlReader inner(Node node, const std::string& key, const std::string& name) const;

  Node table_;
  std::string name_, path_;  // what messages call the table; its place in `positions`
  Positions& positions_;
  std::set<std::string> asked_;
};

// A parsed file; readers of it must not live longer.
class TomlDocument {
 public:
  // Throws Error `bad-toml`.
  TomlDocument(std::string_view text, const std::string& file);
  ~TomlDocument();
  TomlDocument(const TomlDocument&) = delete;
  TomlDocument& operator=(const TomlDocument&) = delete;
  // The whole file as a table, which messages call `name`.
  TomlReader top(const std::string& name, Positions& positions) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace labrig::spec
