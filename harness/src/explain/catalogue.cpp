// Reads entries with toml++, key by key; what is left over is a misspelt key, and an error.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include "explain/entry.hpp"

namespace labrig::explain {
namespace fs = std::filesystem;

namespace {

// One table of a file, whose keys are texts or lists of texts.
class Reader {
 public:
  Reader(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  std::string text(const std::string& key) {
    const std::string value = text_or_none(key);
    if (value.empty()) throw error(table_, fmt::format("'{}' is missing in this [[entry]]", key));
    return value;
  }
  std::string text_or_none(const std::string& key) {
    asked_.insert(key);
    const toml::node* node = table_.get(key);
    return node == nullptr ? "" : text_of(*node, key);
  }
  std::vector<std::string> texts(const std::string& key) {
    asked_.insert(key);
    std::vector<std::string> values;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return values;
    if (!node->is_array()) throw error(*node, fmt::format("'{}' is not a list of texts", key));
    for (const toml::node& item : *node->as_array()) values.push_back(text_of(item, key));
    return values;
  }
  void finish() const {
    for (const auto& [key, node] : table_)
      if (!asked_.contains(std::string(key.str()))) throw error(node, fmt::format("unknown key '{}'", key.str()));
  }
  Error error(const toml::node& at, const std::string& what) const {
    const auto& begin = at.source().begin;
    return {"bad-entries", fmt::format("{}:{}:{}: {}", file_, begin.line, begin.column, what),
            "an [[entry]] has id, title, causes, check and fix, and at least one of codes, patterns, symptoms; it may "
            "have avoid, lab and facts",
            "correct the file; docs/explain.md shows an entry"};
  }

 private:
  std::string text_of(const toml::node& node, const std::string& key) const {
    if (const auto value = node.value_exact<std::string>()) return *value;
    throw error(node, fmt::format("'{}' is not a text", key));
  }

  const toml::table& table_;
  const std::string& file_;
  std::set<std::string> asked_;
};

Entry read_entry(const toml::table& table, const std::string& file) {
  Reader reader(table, file);
  Entry entry{.id = reader.text("id"),
              .title = reader.text("title"),
              .causes = reader.texts("causes"),
              .check = reader.text("check"),
              .fix = reader.text("fix"),
              .avoid = reader.texts("avoid"),
              .lab = reader.text_or_none("lab"),
              .facts = reader.texts("facts"),
              .codes = reader.texts("codes"),
              .patterns = reader.texts("patterns"),
              .symptoms = reader.texts("symptoms")};
  reader.finish();
  if (entry.causes.empty()) throw reader.error(table, "there is no cause");
  if (entry.codes.empty() && entry.patterns.empty() && entry.symptoms.empty())
    throw reader.error(table, "nothing leads to this entry");
  return entry;
}

// The tables of [[key]].
std::vector<const toml::table*> tables(const toml::table& file, std::string_view key) {
  std::vector<const toml::table*> found;
  if (const toml::array* list = file[key].as_array())
    for (const toml::node& item : *list)
      if (item.is_table()) found.push_back(item.as_table());
  return found;
}

void read_file(const fs::path& path, Catalogue& catalogue) {
  const std::string name = path.string();
  const toml::table file = toml::parse_file(name);
  for (const toml::table* table : tables(file, "entry")) {
    Entry entry = read_entry(*table, name);
    for (const Entry& other : catalogue.entries)
      if (other.id == entry.id)
        throw Reader(*table, name).error(*table, "there is an entry '" + entry.id + "' already");
    catalogue.entries.push_back(std::move(entry));
  }
  for (const toml::table* table : tables(file, "synonyms")) {
    Reader reader(*table, name);
    catalogue.synonyms.push_back(reader.texts("words"));
    reader.finish();
  }
}

}  // namespace

Result<Catalogue> read_catalogue(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& file : fs::directory_iterator(folder, missing))
    if (file.path().extension() == ".toml") files.push_back(file.path());
  if (files.empty())
    return Error("no-installation", "there are no entries in " + folder.string(), "`labrig explain` reads them there",
                 "run the program from its build folder or from an installed prefix (cmake --install)");
  std::sort(files.begin(), files.end());
  Catalogue catalogue;
  try {
    for (const fs::path& file : files) read_file(file, catalogue);
  } catch (const toml::parse_error& error) {
    const auto& source = error.source();
    return Error("bad-entries",
                 fmt::format("{}:{}:{}: this is not TOML", source.path ? *source.path : folder.string(),
                             source.begin.line, source.begin.column),
                 std::string(error.description()), "correct the line; https://toml.io shows the format");
  } catch (const Error& error) {
    return error;
  }
  return catalogue;
}

}  // namespace labrig::explain
