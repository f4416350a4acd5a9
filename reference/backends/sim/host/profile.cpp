// Profiles from TOML: every key of profile_fields.hpp must be there, and nothing else. The only file here that includes
// toml++.
#include "profile.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "host/profile_fields.hpp"
#include "host/program_dir.hpp"

namespace labrig::sim {
namespace {

namespace fs = std::filesystem;

std::string place(const std::string& file, const toml::source_region& where) {
  return file + ":" + std::to_string(where.begin.line) + ":" + std::to_string(where.begin.column);
}

Error bad_profile(const std::string& file, const toml::source_region& where, const std::string& what,
                  const std::string& why, const std::string& fix) {
  return Error("bad-profile", place(file, where) + ": " + what, why, fix);
}

std::string full_name(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

// Reads the fields out of the table and remembers which keys there are.
class Reader {
 public:
  Reader(const toml::table& root, const std::string& file) : root_(root), file_(file) {}

  void read_name(std::string& name) {
    known_[""].insert("name");
    const toml::node* node = find("", "name");
    if (node == nullptr) return;
    if (!node->is_string()) throw mistyped(*node, "name", "a string");
    name = node->ref<std::string>();
    if (name.empty()) throw out_of_range(*node, "name", "it is empty", "give the profile a name, as in \"desktop\"");
  }

  template <class T>
  void operator()(const std::string& section, const std::string& key, T& member, std::int64_t least,
                  std::int64_t most) {
    known_[section].insert(key);
    const toml::node* node = find(section, key);
    if (node == nullptr) return;
    const std::string name = full_name(section, key);
    if constexpr (std::is_same_v<T, bool>) {
      if (!node->is_boolean()) throw mistyped(*node, name, "true or false");
      member = node->ref<bool>();
    } else {
      if (!node->is_integer()) throw mistyped(*node, name, "an integer");
      const std::int64_t value = node->ref<std::int64_t>();
      if (value < least || value > most) {
        throw out_of_range(*node, name, "it is " + std::to_string(value),
                           "use a value from " + std::to_string(least) + " to " + std::to_string(most));
      }
      member = static_cast<T>(value);
    }
  }

  // Keys and sections that no field has.
  void refuse_unknown() const {
    for (const auto& [key, node] : root_) {
      const std::string section(key.str());
      if (const toml::table* table = node.as_table(); table != nullptr && known_.count(section) != 0) {
        for (const auto& [inner, value] : *table) check_known(section, inner, value);
      } else {
        check_known("", key, node);
      }
    }
  }

 private:
  void check_known(const std::string& section, const toml::key& key, const toml::node& node) const {
    const std::set<std::string>& keys = known_.at(section);
    if (keys.count(std::string(key.str())) != 0 && !node.is_table()) return;
    std::string names;
    for (const std::string& name : keys) names += (names.empty() ? "" : ", ") + name;
    throw bad_profile(file_, key.source(), "unknown key '" + full_name(section, std::string(key.str())) + "'",
                      "a profile has a fixed set of keys, so that a misspelt one is not ignored",
                      (section.empty() ? "keys at the top: " : "keys of [" + section + "]: ") + names);
  }

  const toml::node* find(const std::string& section, const std::string& key) const {
    const toml::table* table = &root_;
    if (!section.empty()) {
      const toml::node* node = root_.get(section);
      if (node == nullptr) throw missing(root_, "section [" + section + "]", "add it, with the key " + key);
      table = node->as_table();
      if (table == nullptr) throw mistyped(*node, section, "a section");
    }
    const toml::node* node = table->get(key);
    if (node == nullptr) throw missing(*table, "key '" + full_name(section, key) + "'", "add it");
    return node;
  }

  Error missing(const toml::table& table, const std::string& what, const std::string& fix) const {
    return bad_profile(file_, table.source(), what + " is missing", "a profile says everything: nothing has a default",
                       fix + "; reference/profiles/desktop.toml has every key");
  }
  Error mistyped(const toml::node& node, const std::string& name, const std::string& expected) const {
    std::ostringstream seen;
    seen << node.type();
    return bad_profile(file_, node.source(), "'" + name + "' must be " + expected, "it is of type " + seen.str(),
                       "write " + expected + (expected == "an integer" ? ", in the unit that the key names" : ""));
  }
  Error out_of_range(const toml::node& node, const std::string& name, const std::string& why,
                     const std::string& fix) const {
    return bad_profile(file_, node.source(), "'" + name + "' is out of range", why, fix);
  }

  const toml::table& root_;
  const std::string& file_;
  std::map<std::string, std::set<std::string>> known_;
};

// Where profiles are looked for, in this order.
std::vector<fs::path> profile_folders() {
  std::vector<fs::path> folders;
  if (const char* set = std::getenv("LABRIG_PROFILES"); set != nullptr && *set != '\0') folders.emplace_back(set);
  if (const fs::path program = program_dir(); !program.empty()) {
    folders.push_back(program / ".." / "profiles");
    folders.push_back(program / ".." / "share" / "labrig" / "profiles");
  }
  if (const fs::path library = library_dir(); !library.empty()) {
    folders.push_back(library / ".." / "profiles");
    folders.push_back(library / ".." / "share" / "labrig" / "profiles");
  }
  return folders;
}

Result<Profile> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Error("unknown-profile", "cannot read the profile " + path.string(),
                 "the file is not there, or not readable",
                 "check the path; known profiles have a name, as in \"desktop\"");
  }
  return parse_profile(text.str(), path.string());
}

}  // namespace

Result<Profile> parse_profile(std::string_view text, const std::string& file) try {
  const toml::table root = toml::parse(text, file);
  Profile profile;
  Reader reader(root, file);
  reader.read_name(profile.name);
  visit_fields(profile, reader);
  reader.refuse_unknown();
  if (profile.both_ways_numerator > profile.both_ways_denominator) {
    return bad_profile(
        file, root["copy"]["both_ways_numerator"].node()->source(), "'copy.both_ways_numerator' is out of range",
        "copies in both directions cannot each be faster than one alone", "use at most both_ways_denominator");
  }
  if (profile.other_processes_bytes > profile.capacity_bytes) {
    return bad_profile(file, root["memory"]["other_processes_bytes"].node()->source(),
                       "'memory.other_processes_bytes' is out of range", "other processes hold more than the card has",
                       "use at most capacity_bytes");
  }
  return profile;
} catch (const toml::parse_error& error) {
  return bad_profile(file, error.source(), "not valid TOML", std::string(error.description()),
                     "compare with reference/profiles/desktop.toml");
} catch (const Error& error) {
  return error;
}

Result<Profile> load_profile(const std::string& name_or_path) {
  if (name_or_path.ends_with(".toml")) return read_file(name_or_path);
  if (name_or_path.find('/') == std::string::npos) {
    for (const fs::path& folder : profile_folders()) {
      const fs::path path = folder / (name_or_path + ".toml");
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return read_file(path.lexically_normal());
    }
  }
  std::string names;
  for (const std::string& name : profile_names()) names += (names.empty() ? "" : ", ") + name;
  return Error("unknown-profile", "there is no profile '" + name_or_path + "'",
               names.empty() ? "no folder with profiles was found beside the program" : "known profiles: " + names,
               names.empty() ? "set LABRIG_PROFILES to the folder with the .toml files"
                             : "use one of these names, or the path of a .toml file");
}

std::vector<std::string> profile_names() {
  std::set<std::string> names;
  for (const fs::path& folder : profile_folders()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace labrig::sim
