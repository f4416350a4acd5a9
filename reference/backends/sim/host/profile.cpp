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

// A version that this labrig does not know: said before anything else, because its keys may be unknown too.
void refuse_newer(const toml::table& root, const std::string& file) {
  const toml::node* node = root.get("version");
  if (node == nullptr || !node->is_integer() || node->ref<std::int64_t>() <= kProfileVersion) return;
  throw bad_profile(
      file, node->source(), "the profile is of version " + std::to_string(node->ref<std::int64_t>()),
      "this labrig knows versions 1 to " + std::to_string(kProfileVersion) +
          ", and a newer one may mean something else by the same keys",
      "use a newer labrig, or write the profile in version " + std::to_string(kProfileVersion) + " (docs/profiles.md)");
}

// Walks over the fields of a profile twice. First it only learns which keys there are, so that a misspelt one is told
// before the key that it leaves missing; then it reads them out of the table.
class Reader {
 public:
  Reader(const toml::table& root, const std::string& file) : root_(root), file_(file) {
    const toml::node* version = root.get("version");
    if (version != nullptr && version->is_integer()) version_ = version->ref<std::int64_t>();
  }

  void read(Profile& profile) {
    for (const bool learning : {true, false}) {
      learning_ = learning;
      read_name(profile.name);
      visit_fields(profile, *this);
      read_schedule(profile);
      if (learning) refuse_unknown();
    }
  }

  void read_name(std::string& name) {
    known_[""].insert("name");
    if (learning_) return;
    const toml::node* node = find("", "name");
    if (node == nullptr) return;
    if (!node->is_string()) throw mistyped(*node, "name", "a string");
    name = node->ref<std::string>();
    if (name.empty()) throw out_of_range(*node, "name", "it is empty", "give the profile a name, as in \"desktop\"");
  }

  template <class T>
  void operator()(const std::string& section, const std::string& key, T& member, std::int64_t least,
                  std::int64_t most) {
    const std::string name = full_name(section, key);
    if (version_ < 2 && name == "host.spread_ps") return;
    known_[section].insert(key);
    if (learning_) return;
    const toml::node* node = find(section, key);
    if (node == nullptr) return;
    if constexpr (std::is_same_v<T, bool>) {
      if (!node->is_boolean()) throw mistyped(*node, name, "true or false");
      member = node->ref<bool>();
    } else {
      member = static_cast<T>(checked_integer(*node, name, least, most));
    }
  }

  // [[memory.other_processes]], which may be left out.
  void read_schedule(Profile& profile) {
    const std::string name = "memory.other_processes";
    if (version_ < 2) return;
    known_["memory"].insert("other_processes");
    if (learning_) return;
    const toml::node* node = root_["memory"]["other_processes"].node();
    if (node == nullptr) return;
    const toml::array* entries = node->as_array();
    if (entries == nullptr) throw mistyped(*node, name, "a list of tables, each headed [[" + name + "]]");
    if (entries->size() > kMaxOtherProcesses) {
      throw out_of_range(*node, name, "it has " + std::to_string(entries->size()) + " entries",
                         "use at most " + std::to_string(kMaxOtherProcesses));
    }
    for (const toml::node& entry : *entries) {
      const toml::table* table = entry.as_table();
      if (table == nullptr) throw mistyped(entry, name, "a list of tables, each headed [[" + name + "]]");
      for (const auto& [key, value] : *table) {
        if (key.str() == "at_ps" || key.str() == "bytes") continue;
        throw bad_profile(file_, key.source(), "unknown key '" + full_name(name, std::string(key.str())) + "'",
                          "a profile has a fixed set of keys, so that a misspelt one is not ignored",
                          "keys of [[" + name + "]]: at_ps, bytes");
      }
      const std::int64_t after = profile.other_processes_schedule.empty()  //
                                     ? 0
                                     : profile.other_processes_schedule.back().at_ps;
      OtherProcesses next;
      next.at_ps = entry_value(*table, name, "at_ps", after + 1, kMaxOtherProcessesPs);
      next.bytes = static_cast<std::uint64_t>(
          entry_value(*table, name, "bytes", 0, static_cast<std::int64_t>(profile.capacity_bytes)));
      profile.other_processes_schedule.push_back(next);
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

  std::int64_t entry_value(const toml::table& entry, const std::string& section, const std::string& key,
                           std::int64_t least, std::int64_t most) const {
    const std::string name = full_name(section, key);
    const toml::node* node = entry.get(key);
    if (node == nullptr) throw missing(entry, "key '" + name + "'", "add it");
    return checked_integer(*node, name, least, most);
  }

  std::int64_t checked_integer(const toml::node& node, const std::string& name, std::int64_t least,
                               std::int64_t most) const {
    if (!node.is_integer()) throw mistyped(node, name, "an integer");
    const std::int64_t value = node.ref<std::int64_t>();
    if (value >= least && value <= most) return value;
    throw out_of_range(node, name, "it is " + std::to_string(value),
                       "use a value from " + std::to_string(least) + " to " + std::to_string(most));
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
  std::int64_t version_ = kProfileVersion;  // what the file says
  bool learning_ = true;
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

// No profile is longer; a file that is may be anything.
constexpr std::size_t kMaxTextBytes = std::size_t{256} << 10;

Result<Profile> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxTextBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || !file.is_open()) {
    return Error("unknown-profile", "cannot read the profile " + path.string(),
                 "the file is not there, or not readable",
                 "check the path; known profiles have a name, as in \"desktop\"");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_profile(text, path.string());
}

}  // namespace

Result<Profile> parse_profile(std::string_view text, const std::string& file) try {
  if (text.size() > kMaxTextBytes) {
    return Error("bad-profile", file + " is too long for a profile",
                 "it has more than " + std::to_string(kMaxTextBytes) + " bytes",
                 "compare with reference/profiles/desktop.toml");
  }
  const toml::table root = toml::parse(text, file);
  Profile profile;
  refuse_newer(root, file);
  Reader reader(root, file);
  reader.read(profile);
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
