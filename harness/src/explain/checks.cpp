// A lab says of each check what usually causes its failure and what to do next; that is an entry already.
#include "explain/entry.hpp"

namespace labrig::explain {

namespace {

bool has_placeholder(const std::string& text) { return text.find('{') != std::string::npos; }

// "{value} uploads in {case}" -> "* uploads in *".
std::string as_pattern(const std::string& text) {
  std::string pattern;
  for (std::size_t at = 0; at < text.size(); ++at) {
    pattern += text[at] == '{' ? '*' : text[at];
    if (text[at] == '{') at = std::min(text.find('}', at), text.size());
  }
  return pattern;
}

Entry entry_of(const spec::LabSpec& lab, const spec::CheckSpec& check) {
  Entry entry;
  entry.id = lab.id + "/" + check.id;
  entry.title = check.title_failed;
  entry.lab = lab.id;
  entry.facts = check.facts;
  entry.check = "`labrig check FOLDER --task " + std::to_string(check.task) +
                "` repeats it in seconds; the report shows the case, its timeline and its memory.";
  const bool explained =
      check.explain && !has_placeholder(check.explain->cause) && !has_placeholder(check.explain->next);
  entry.causes = {explained ? check.explain->cause : check.title_failed};
  entry.fix = explained ? check.explain->next : check.hints[1];
  entry.codes = {check.id, check.code};
  entry.patterns = {check.title_failed, as_pattern(check.text)};
  for (const spec::Condition& also : check.also) {
    entry.codes.push_back(also.code);
    entry.patterns.push_back(as_pattern(also.text));
  }
  return entry;
}

// What the lab says of one code of the check's reasons, found by that code alone.
Entry entry_of_cause(const Entry& check, const std::string& code, const spec::Cause& cause) {
  Entry entry = check;
  entry.id += "/" + code;
  entry.causes = {cause.cause};
  entry.fix = cause.next;
  entry.codes = {code};
  entry.patterns.clear();
  return entry;
}

}  // namespace

std::vector<Entry> entries_of_checks(const spec::LabSpec& lab) {
  std::vector<Entry> entries;
  for (const spec::CheckSpec& check : lab.checks) {
    const Entry entry = entry_of(lab, check);
    entries.push_back(entry);
    for (const auto& [code, cause] : check.causes)
      if (!has_placeholder(cause.cause) && !has_placeholder(cause.next))
        entries.push_back(entry_of_cause(entry, code, cause));
  }
  return entries;
}

}  // namespace labrig::explain
