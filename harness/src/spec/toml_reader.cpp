// The one file of the harness that includes toml++.
#include "spec/toml_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>

#include "labrig/error.hpp"

namespace labrig::spec {
namespace {

const toml::node& node_of(const void* node) { return *static_cast<const toml::node*>(node); }
const toml::table& table_of(const void* node) { return *node_of(node).as_table(); }

Position position_of(const toml::node& node) {
  return {static_cast<unsigned>(node.source().begin.line), static_cast<unsigned>(node.source().begin.column)};
}

const char* type_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

}  // namespace

TomlReader::TomlReader(Node table, std::string name, std::string path, Positions& positions)
    : table_(table), name_(std::move(name)), path_(std::move(path)), positions_(positions) {
  positions_.note(path_, position_of(node_of(table)));
  for (const auto& [key, node] : table_of(table)) positions_.note(place(std::string(key.str())), position_of(node));
}

// --- keys ------------------------------------------------------------------------------------------------------------

bool TomlReader::has(const std::string& key) {
  asked_.insert(key);
  return table_of(table_).contains(key);
}

TomlReader::Node TomlReader::require(const std::string& key, const std::string& line) {
  asked_.insert(key);
  const toml::node* node = table_of(table_).get(key);
  if (node != nullptr) return node;
  throw positions_.error(path_, fmt::format("'{}' is missing in {}", key, name_), "the key has no default",
                         "add a line '" + (line.empty() ? key + " = …" : line) + "' there");
}

std::vector<std::string> TomlReader::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, node] : table_of(table_)) names.emplace_back(key.str());
  return names;
}

void TomlReader::finish() const {
  for (const auto& [key, value] : table_of(table_)) {
    const std::string name(key.str());
    if (asked_.contains(name)) continue;
    std::string known;
    for (const std::string& other : asked_) known += (known.empty() ? "" : ", ") + other;
    throw positions_.error(place(name), fmt::format("unknown key '{}' in {}", name, name_),
                           "the keys that may stand here are: " + known, "correct the spelling, or remove the line");
  }
}

void TomlReader::wrong(const std::string& key, const std::string& expected, const std::string& seen) const {
  throw positions_.error(place(key), fmt::format("'{}' in {} is not right", key, name_),
                         fmt::format("expected {}, seen {}", expected, seen), "write " + expected + " here");
}

// --- values ----------------------------------------------------------------------------------------------------------

template <class T>
T TomlReader::typed(Node node, const std::string& key, const std::string& expected) const {
  if (const auto value = node_of(node).value_exact<T>()) return *value;
  wrong(key, expected, type_of(node_of(node)));
}

std::string TomlReader::text(const std::string& key) { return typed<std::string>(require(key), key, "a text"); }

bool TomlReader::boolean(const std::string& key, bool otherwise) {
  return has(key) ? typed<bool>(require(key), key, "true or false") : otherwise;
}

std::int64_t TomlReader::integer(const std::string& key) {
  return typed<std::int64_t>(require(key), key, "an integer");
}

double TomlReader::number(const std::string& key) {
  const Node node = require(key);
  if (node_of(node).is_integer()) return static_cast<double>(node_of(node).as_integer()->get());
  const double value = typed<double>(node, key, "a number");
  if (!std::isfinite(value)) wrong(key, "a finite number", fmt::format("{}", value));
  return value;
}

std::int64_t TomlReader::positive(const std::string& key) {
  const std::int64_t value = integer(key);
  if (value <= 0) wrong(key, "a positive integer", fmt::format("{}", value));
  return value;
}

std::vector<std::string> TomlReader::texts(const std::string& key) {
  const toml::node& node = node_of(require(key));
  if (!node.is_array()) wrong(key, "a list of texts", type_of(node));
  std::vector<std::string> values;
  for (const toml::node& item : *node.as_array()) values.push_back(typed<std::string>(&item, key, "a list of texts"));
  return values;
}

std::vector<std::int64_t> TomlReader::positives(const std::string& key) {
  const char* const expected = "a list of positive integers";
  const toml::node& node = node_of(require(key));
  if (!node.is_array()) wrong(key, expected, type_of(node));
  std::vector<std::int64_t> values;
  for (const toml::node& item : *node.as_array()) {
    values.push_back(typed<std::int64_t>(&item, key, expected));
    if (values.back() <= 0) wrong(key, expected, fmt::format("{}", values.back()));
  }
  return values;
}

// --- tables ----------------------------------------------------------------------------------------------------------

TomlReader TomlReader::inner(Node node, const std::string& key, const std::string& name) const {
  if (!node_of(node).is_table()) wrong(key, "a table", type_of(node_of(node)));
  return TomlReader(node, name, place(key), positions_);
}

bool TomlReader::is_table(const std::string& key) { return node_of(require(key)).is_table(); }

TomlReader TomlReader::table(const std::string& key) {
  return inner(require(key, key + " = { … }"), key, fmt::format("{} {}", name_, key));
}

TomlReader TomlReader::top_table(const std::string& key) {
  const std::string name = "[" + key + "]";
  return inner(require(key, name), key, name);
}

std::vector<TomlReader> TomlReader::tables(const std::string& key) {
  const std::string name = "[[" + key + "]]";
  const toml::node& node = node_of(require(key, name));
  if (!node.is_array()) wrong(key, "one or more " + name, type_of(node));
  std::vector<TomlReader> readers;
  for (const toml::node& item : *node.as_array())
    readers.push_back(inner(&item, key + "." + std::to_string(readers.size()), name));
  return readers;
}

// --- the file --------------------------------------------------------------------------------------------------------

struct TomlDocument::State {
  toml::table table;
};

TomlDocument::TomlDocument(std::string_view text, const std::string& file) try
    : state_(std::make_unique<State>(toml::parse(text, file))) {
} catch (const toml::parse_error& error) {
  const auto& begin = error.source().begin;
  throw Error("bad-toml", fmt::format("{}:{}:{}: this is not TOML", file, begin.line, begin.column),
              std::string(error.description()), "correct the line; https://toml.io shows the format");
}

TomlDocument::~TomlDocument() = default;

TomlReader TomlDocument::top(const std::string& name, Positions& positions) const {
  return TomlReader(static_cast<const toml::node*>(&state_->table), name, "", positions);
}

}  // namespace labrig::spec
