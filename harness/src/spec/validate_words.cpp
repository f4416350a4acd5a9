// The words of a lab.toml that no other table holds: names of metrics, and placeholders in texts. A slip in one of them
// would show only when a student reads the report.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "spec/positions.hpp"
#include "units.hpp"

namespace labrig::spec {

namespace {

// How many letters must be changed, added or taken out to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// A name that is no metric of the card is a figure of the judge, which only the judge knows. One that is nearly a
// metric is a slip.
void check_metrics(const Condition& condition, const std::string& where, const Positions& positions) {
  const std::vector<reports::MetricInfo>& metrics = reports::known_metrics();
  for (const std::string& name : condition.metric) {
    if (std::ranges::any_of(metrics, [&](const reports::MetricInfo& known) { return known.name == name; })) continue;
    for (const reports::MetricInfo& known : metrics)
      if (const std::size_t slips = distance(name, known.name); slips == 1 || slips == 2)
        throw positions.error(
            where + ".metric", "'" + name + "' is no metric", "the card has one that is called '" + known.name + "'",
            "write \"" + known.name + "\"; a figure of the judge's own needs a name that is less alike");
  }
}

void check_text(const std::string& text, const std::string& where, const Positions& positions) {
  static const std::set<std::string> kWords = {"value", "reference", "limit", "ratio", "case", "unit"};
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", open + 1);
    if (end == std::string::npos || text[end] != '}' || end == open + 1) continue;  // braces of other use
    const std::string word = text.substr(open + 1, end - open - 1);
    if (!kWords.contains(word))
      throw positions.error(where, "{" + word + "} stands for nothing",
                            "the words in braces are: value, reference, limit, ratio, case, unit", "use one of them");
  }
}

}  // namespace

void validate_words(const LabSpec& spec, const Positions& positions) {
  for (std::size_t i = 0; i < spec.checks.size(); ++i) {
    const CheckSpec& check = spec.checks[i];
    const std::string where = fmt::format("check.{}", i);
    check_metrics(check, where, positions);
    check_text(check.text, where + ".text", positions);
    for (std::size_t j = 0; j < check.also.size(); ++j) {
      const std::string also = fmt::format("{}.also.{}", where, j);
      check_metrics(check.also[j], also, positions);
      check_text(check.also[j].text, also + ".text", positions);
    }
    for (const auto& [code, cause] : check.causes) {
      check_text(cause.cause, fmt::format("{}.causes.{}.cause", where, code), positions);
      check_text(cause.next, fmt::format("{}.causes.{}.next", where, code), positions);
    }
    if (!check.explain) continue;
    check_text(check.explain->what, where + ".explain.what", positions);
    check_text(check.explain->cause, where + ".explain.cause", positions);
    check_text(check.explain->next, where + ".explain.next", positions);
  }
}

}  // namespace labrig::spec
