#include "manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command_tree.hpp"
#include "help_page.hpp"

namespace labrig::app {
namespace {

// A backslash, and a dot or an apostrophe at the start of a line, are commands of troff.
std::string troff(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "…") == 0) {
      out += "...";
      i += 2;
      continue;
    }
    if ((text[i] == '.' || text[i] == '\'') && (i == 0 || text[i - 1] == '\n')) out += "\\&";
    out += text[i] == '\\' ? std::string("\\e") : text[i] == '-' ? std::string("\\-") : std::string(1, text[i]);
  }
  return out;
}

// Its lines as they are.
std::string as_it_stands(const std::string& text) {
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", troff(text));
}

std::string commands_to_type(const std::vector<std::string>& lines) {
  std::string out = ".PP\n.RS 4\n.nf\n";
  for (const std::string& line : lines) out += fmt::format("\\fB{}\\fR\n", troff(line));
  return out + ".fi\n.RE\n";
}

std::string manual_option(const CLI::Option& option) {
  std::string head;
  for (const std::string& name : option.get_snames()) head += fmt::format("\\fB\\-{}\\fR, ", troff(name));
  head += fmt::format("\\fB{}\\fR", troff(option_name(option)));
  if (!option.get_positional() && takes_value(option)) head += fmt::format(" \\fI{}\\fR", troff(value_of(option)));
  return fmt::format(".TP\n{}\n{}\n", head, troff(sentence(text_of(option))));
}

std::string exit_table(const Footer& footer) {
  std::string out;
  for (const auto& [code, meaning] : footer.exits)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", code, troff(sentence(meaning)));
  return out;
}

std::string exit_line(const Footer& footer) {
  std::vector<std::string> codes;
  codes.reserve(footer.exits.size());
  for (const auto& [code, meaning] : footer.exits) codes.push_back(fmt::format("{} {}", code, meaning));
  return codes.empty() ? "" : fmt::format(".PP\nExit codes: {}\n", troff(sentence(list_of(codes))));
}

std::string manual_command(const CLI::App& command) {
  const Footer footer = footer_of(command);
  std::string out =
      fmt::format(".SS \"{}\"\n{}\n", troff(usage_of(command)), troff(sentence(command.get_description())));
  for (const CLI::Option* place : arguments_of(command)) out += manual_option(*place);
  for (const CLI::Option* option : options_of(command))
    if (option_name(*option) != "--help") out += manual_option(*option);
  return out + as_it_stands(footer.notes) + exit_line(footer) + commands_to_type(footer.examples);
}

constexpr const char* kEnvironment =
    ".SH ENVIRONMENT\n.TP\n\\fBLABRIG_LABS\\fR\nFolders with labs, with colons between them; searched after "
    "\\-\\-labs.\n"
    ".TP\n\\fBLABRIG_CXX\\fR\nThe compiler for submissions.\n"
    ".TP\n\\fBXDG_CACHE_HOME\\fR\nWhere built submissions and reference figures are kept, in labrig.\n"
    ".TP\n\\fBNO_COLOR\\fR\nWhen not empty: no colours.\n";

}  // namespace

std::string manual_page(const CLI::App& program, const std::string& version) {
  const Footer footer = footer_of(program);
  std::string out = fmt::format(".TH LABRIG 1 \"\" \"labrig {}\" \"User commands\"\n", troff(version));
  out += ".SH NAME\nlabrig \\- run and grade GPU programming labs\n";
  out += ".SH SYNOPSIS\n\\fBlabrig\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n", troff(program.get_description()));
  out += "A submission runs in a process of its own against a simulated card; no GPU is needed.\n.SH OPTIONS\n";
  for (const CLI::Option* option : options_of(program)) out += manual_option(*option);
  out += ".SH COMMANDS\n";
  walk(program, [&](const CLI::App& command) {
    if (commands_below(command).empty())
      out += manual_command(command);  // a group says nothing that its commands do not
  });
  out += ".SH \"EXIT STATUS\"\n" + exit_table(footer) + ".SH EXAMPLES\n" + commands_to_type(footer.examples);
  return out + kEnvironment;
}

}  // namespace labrig::app
