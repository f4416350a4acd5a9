// What a lab.toml says must fit together: this looks across its tables.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>

#include "spec/positions.hpp"

namespace labrig::spec {

std::string Positions::at(const std::string& path) const {
  const auto found = positions_.find(path);
  if (found == positions_.end() || found->second.line == 0) return file_ + ": ";
  return fmt::format("{}:{}:{}: ", file_, found->second.line, found->second.column);
}

Error Positions::error(const std::string& path, const std::string& what, std::string why, std::string fix) const {
  return Error(code_, at(path) + what, std::move(why), std::move(fix));
}

const CheckSpec* LabSpec::check(std::string_view check_id) const {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const CheckSpec& c) { return c.id == check_id; });
  return found == checks.end() ? nullptr : &*found;
}

namespace {

bool is_kebab_case(const std::string& id) {
  return !id.empty() && id.front() != '-' && id.back() != '-' && std::all_of(id.begin(), id.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) || c == '-';
  });
}

template <class Set>
std::string list(const Set& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + fmt::format("{}", word);
  return text;
}

class Validator {
 public:
  Validator(const LabSpec& spec, const Positions& positions, const std::string& handout)
      : spec_(spec), positions_(positions), handout_(handout) {}

  void run() {
    check_id("lab.id", spec_.id);
    check_files();
    std::set<std::int64_t> tasks;
    for (std::size_t i = 0; i < spec_.tasks.size(); ++i)
      if (!tasks.insert(spec_.tasks[i].id).second) twice(place("task", i, "id"), std::to_string(spec_.tasks[i].id));
    std::set<std::string> scenarios, kinds, checks;
    for (std::size_t i = 0; i < spec_.scenarios.size(); ++i) {
      check_id(place("scenario", i, "id"), spec_.scenarios[i].id);
      if (!scenarios.insert(spec_.scenarios[i].id).second) twice(place("scenario", i, "id"), spec_.scenarios[i].id);
      kinds.insert(spec_.scenarios[i].kind);
    }
    for (std::size_t i = 0; i < spec_.checks.size(); ++i) {
      check_id(place("check", i, "id"), spec_.checks[i].id);
      if (!checks.insert(spec_.checks[i].id).second) twice(place("check", i, "id"), spec_.checks[i].id);
    }
    for (std::size_t i = 0; i < spec_.checks.size(); ++i) check_names(i, tasks, kinds, checks);
    for (std::size_t i = 0; i < spec_.checks.size(); ++i) check_circle(i);
    for (std::size_t i = 0; i < spec_.checks.size(); ++i) check_anchor(i);
    check_points();
  }

 private:
  static std::string place(const std::string& table, std::size_t i, const std::string& key) {
    return table + "." + std::to_string(i) + "." + key;
  }

  void check_id(const std::string& where, const std::string& id) const {
    if (!is_kebab_case(id))
      throw positions_.error(where, "'" + id + "' is no id",
                             "ids are kebab-case: small letters, digits and single dashes",
                             "write for example \"bytes-up\"");
  }

  [[noreturn]] void twice(const std::string& where, const std::string& id) const {
    throw positions_.error(where, "the id '" + id + "' is given twice", "reports and other tables name it by this id",
                           "give one of the two another id");
  }

  void check_files() const {
    for (const std::string& file : spec_.files) {
      const std::filesystem::path path(file);
      if (path.is_absolute() || file.find("..") != std::string::npos || file.empty())
        throw positions_.error("submission.files", "'" + file + "' is not a file of the student's folder",
                               "only files inside the folder are read", "give the path inside the folder");
    }
  }

  template <class Set, class Name>
  void known(const std::string& where, const Set& names, const Name& name, const std::string& what) const {
    if (!names.contains(name))
      throw positions_.error(where, fmt::format("there is no {} '{}'", what, name),
                             fmt::format("the file has: {}", list(names)), "use one of these, or add what is missing");
  }

  void check_names(std::size_t i, const std::set<std::int64_t>& tasks, const std::set<std::string>& kinds,
                   const std::set<std::string>& checks) const {
    const CheckSpec& check = spec_.checks[i];
    known(place("check", i, "task"), tasks, check.task, "task");
    for (const std::string& kind : check.kinds) known(place("check", i, "kinds"), kinds, kind, "scenario of the kind");
    for (const std::string& need : check.needs.value_or(std::vector<std::string>{}))
      known(place("check", i, "needs"), checks, need, "check");
  }

  // A check that needs itself, directly or through others, could never be decided.
  void check_circle(std::size_t start) const {
    std::set<std::string> seen;
    std::function<void(const CheckSpec&)> follow = [&](const CheckSpec& check) {
      for (const std::string& need : check.needs.value_or(std::vector<std::string>{})) {
        if (need == spec_.checks[start].id)
          throw positions_.error(place("check", start, "needs"), "check '" + need + "' needs itself",
                                 "its needs lead back to it in a circle", "take one of the needs out");
        if (seen.insert(need).second) follow(*spec_.check(need));
      }
    };
    follow(spec_.checks[start]);
  }

  void check_points() const {
    double sum = 0;
    for (const CheckSpec& check : spec_.checks) sum += check.points;
    if (std::abs(sum - spec_.points) > 1e-6)
      throw positions_.error("check.0.points",
                             fmt::format("the points of all checks sum to {}, not to {}", sum, spec_.points),
                             fmt::format("a score is out of {}", spec_.points), "change the points of some checks");
  }

  void check_anchor(std::size_t i) const {
    const std::string& anchor = spec_.checks[i].handout;
    if (anchor.empty() || handout_.empty() || handout_.find("id=\"" + anchor + "\"") != std::string::npos) return;
    throw positions_.error(place("check", i, "handout"), "the handout has no section '" + anchor + "'",
                           "reports link to the heading of that name",
                           "name a heading of handout.md, in small letters with dashes: \"task-1\" for `## Task 1: …`");
  }

  const LabSpec& spec_;
  const Positions& positions_;
  const std::string& handout_;
};

}  // namespace

void validate(const LabSpec& spec, const Positions& positions, const std::string& handout) {
  Validator(spec, positions, handout).run();
  validate_words(spec, positions);
}

}  // namespace labrig::spec
