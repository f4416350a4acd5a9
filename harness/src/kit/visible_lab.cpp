// Besides ../spec/toml_reader.cpp the one file of the harness that includes toml++: that one reads, this one writes.
#include "kit/visible_lab.hpp"

#include <toml++/toml.h>

#include <set>
#include <sstream>

#include "labrig/error.hpp"

namespace labrig::kit {

namespace {

bool is_hidden(const toml::node& node) {
  const toml::table* table = node.as_table();
  return table != nullptr && (*table)["visibility"].value_or(std::string_view()) == "hidden";
}

std::string text_of(const toml::node& node, std::string_view key) {
  return std::string((*node.as_table())[key].value_or(std::string_view()));
}

// Takes the elements out for which `drop` says so.
template <class Drop>
void erase_if(toml::array* array, Drop drop) {
  if (array == nullptr) return;
  for (std::size_t i = array->size(); i-- > 0;)
    if (drop(*array->get(i))) array->erase(array->cbegin() + static_cast<std::ptrdiff_t>(i));
}

// Takes the texts out that `kept` does not have.
void keep_texts(toml::array* texts, const std::set<std::string>& kept) {
  erase_if(texts, [&](const toml::node& text) { return !kept.contains(text.value_or(std::string())); });
}

std::set<std::string> values_of(const toml::array& tables, std::string_view key) {
  std::set<std::string> values;
  for (const toml::node& table : tables) values.insert(text_of(table, key));
  return values;
}

toml::table parse(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw Error("bad-toml", file + " is not TOML", std::string(error.description()), "correct the file");
  }
}

double sum_of_points(const toml::array& checks) {
  double sum = 0;
  for (const toml::node& check : checks) sum += (*check.as_table())["points"].value_or(0.0);
  return sum;
}

}  // namespace

std::string visible_lab(std::string_view lab_toml, const std::string& file) {
  toml::table lab = parse(lab_toml, file);
  toml::array *scenarios = lab["scenario"].as_array(), *checks = lab["check"].as_array();
  erase_if(scenarios, is_hidden);
  if (scenarios == nullptr || checks == nullptr || scenarios->empty())
    throw Error("nothing-visible", "the lab of " + file + " has no visible scenario", "students could not try anything",
                "make a scenario visible");
  const std::set<std::string> kinds = values_of(*scenarios, "kind");
  for (toml::node& check : *checks) keep_texts((*check.as_table())["kinds"].as_array(), kinds);
  erase_if(checks, [](const toml::node& check) {
    const toml::array* of_check = (*check.as_table())["kinds"].as_array();
    return is_hidden(check) || of_check == nullptr || of_check->empty();
  });
  const std::set<std::string> ids = values_of(*checks, "id");
  for (toml::node& check : *checks) keep_texts((*check.as_table())["needs"].as_array(), ids);
  if (const double points = sum_of_points(*checks); points != 100)
    lab["lab"].as_table()->insert_or_assign("points", points);
  std::ostringstream text;
  text << "# Written by `labrig kit student` from the course's lab: what is visible.\n" << lab << "\n";
  return text.str();
}

}  // namespace labrig::kit
