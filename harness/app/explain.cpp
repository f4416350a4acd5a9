// labrig explain CODE|TEXT: what usually causes a message or a symptom, how to look, how to mend it. The entries lie in
// <root>/share/labrig/explain; each check of each lab is one as well.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "explain/match.hpp"
#include "labrig/error.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// The entries, and those of the checks of the labs that are there. A lab that cannot be read is another command's
// matter.
explain::Catalogue catalogue_of(const Context& context) {
  explain::Catalogue catalogue = explain::read_catalogue(context.root / "share" / "labrig" / "explain").value();
  for (const fs::path& folder : lab_folders(context)) {
    const Result<spec::LabSpec> lab = spec::load_lab(folder);
    if (!lab) continue;
    for (explain::Entry& entry : explain::entries_of_checks(lab.value())) catalogue.entries.push_back(std::move(entry));
  }
  return catalogue;
}

// Entries may name labs that this installation does not have.
bool has_lab(const Context& context, const std::string& id) {
  for (const fs::path& folder : lab_folders(context))
    if (folder.filename() == id) return true;
  return false;
}

// What the text's own numbers say comes before what is usual.
std::vector<std::string> causes_of(const explain::Match& match) {
  std::vector<std::string> causes = match.entry->causes;
  if (!match.note.empty()) causes.insert(causes.begin(), match.note);
  return causes;
}

Json to_json(const Context& context, const explain::Match& match) {
  const explain::Entry& entry = *match.entry;
  return {{"id", entry.id},
          {"title", entry.title},
          {"causes", causes_of(match)},
          {"check", entry.check},
          {"fix", entry.fix},
          {"avoid", entry.avoid},
          {"lab", has_lab(context, entry.lab) ? entry.lab : ""},
          {"facts", entry.facts}};
}

// A paragraph of at most 100 columns: `mark` in front of its first line, blanks in front of the others.
void print_paragraph(const std::string& mark, const std::string& text) {
  constexpr std::size_t kColumns = 100;
  std::string line = mark;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (line.size() > mark.size() && line.size() + (end - at) >= kColumns) {
      std::printf("%s\n", line.c_str());
      line.assign(mark.size(), ' ');
    } else if (line.size() > mark.size()) {
      line += ' ';
    }
    line.append(text, at, end - at);
    at = end + 1;
  }
  std::printf("%s\n", line.c_str());
}

void print_entry(const Context& context, const explain::Match& match) {
  const explain::Entry& entry = *match.entry;
  std::printf("%s (%s)\n", entry.title.c_str(), entry.id.c_str());
  std::printf("  matched by \"%s\"\n", match.by.c_str());
  const std::vector<std::string> causes = causes_of(match);
  std::printf("  %s\n", causes.size() > 1 ? "causes, the most frequent first" : "cause");
  for (const std::string& cause : causes) print_paragraph("    - ", cause);
  print_paragraph("  check  ", entry.check);
  print_paragraph("  fix    ", entry.fix);
  for (const std::string& remedy : entry.avoid) print_paragraph("  avoid  ", remedy);
  if (has_lab(context, entry.lab))
    std::printf("  lab    %s\n", ("labrig new " + entry.lab + " my-" + entry.lab).c_str());
}

void print(const Context& context, const std::vector<explain::Match>& matches) {
  if (matches.empty()) {
    std::printf(
        "no entry: this is no message or symptom that labrig knows\n"
        "  Paste the last lines of a message, or a code of labrig; say a symptom in a few words, for example\n"
        "  labrig explain \"memory grows with every step\"\n");
    return;
  }
  print_entry(context, matches.front());
  for (std::size_t i = 1; i < matches.size(); ++i)
    std::printf("%slabrig explain %s: %s\n", i == 1 ? "see also\n  " : "  ", matches[i].entry->id.c_str(),
                matches[i].entry->title.c_str());
}

void run(const std::vector<std::string>& words, Context& context) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  if (text == "-") text.assign(std::istreambuf_iterator<char>(std::cin), {});
  const explain::Catalogue catalogue = catalogue_of(context);
  const std::vector<explain::Match> matches = explain::find_entries(catalogue, text);
  if (!context.json) return print(context, matches);
  Json answer = {{"entries", Json::array()}};
  for (const explain::Match& match : matches) answer["entries"].push_back(to_json(context, match));
  print_answer(answer);
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("explain", "What usually causes a message or a symptom, and what helps");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("TEXT", *words, "A message, a code of labrig, or a symptom; - reads it from stdin")->required();
  add_json_flag(*command, context);
  command->footer(
      "A text that begins with a dash goes behind --, or comes in on stdin.\n"
      "Exit codes: 0 done, also when there is no entry (with --json the list is empty then), 2 usage\n"
      "Example: labrig explain \"CUDA error: invalid device ordinal\"\n"
      "         python train.py 2>&1 | labrig explain -");
  command->callback([words, &context] { run(*words, context); });
}

}  // namespace labrig::app
