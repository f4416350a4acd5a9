#include "shell_help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <numeric>

namespace labrig::app {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

// Every command with the words that lead to it: "plugin doctor".
void walk(const CLI::App& app, const std::string& path,
          const std::function<void(const CLI::App&, const std::string&)>& visit) {
  for (const CLI::App* command : commands_of(app)) {
    const std::string words = path.empty() ? command->get_name() : path + " " + command->get_name();
    visit(*command, words);
    walk(*command, words, visit);
  }
}

// What may follow the words of a command: sub-commands, and its options beside those of the program.
std::string candidates(const CLI::App& program, const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : commands_of(command)) words.push_back(sub->get_name());
  for (const std::string& name : option_names(command)) words.push_back(name);
  if (&command != &program)
    for (const char* common : {"--labs", "--quiet"}) words.emplace_back(common);
  return joined(words, " ");
}

std::string in_single_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// For troff: a backslash, and a dot or an apostrophe at the start of a line, are commands.
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

std::string manual_option(const CLI::Option& option) {
  std::string name = option.get_name(/*positional=*/option.get_positional(), /*all_options=*/true);
  if (option.get_type_size() != 0 && !option.get_positional())
    name += " " + option.get_type_name().substr(0, option.get_type_name().find(':'));
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", troff(name), troff(option.get_description()));
}

std::string manual_command(const CLI::App& command, const std::string& words) {
  std::string out = fmt::format(".SS \"labrig {}\"\n{}.\n", troff(words), troff(command.get_description()));
  for (const CLI::Option* option : command.get_options())
    if (!option->check_lname("help") && !option->get_group().empty()) out += manual_option(*option);
  if (!command.get_footer().empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", troff(command.get_footer()));
  return out;
}

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::string cases;
  walk(program, "", [&](const CLI::App& command, const std::string& words) {
    cases +=
        fmt::format("    {}) words={} ;;\n", in_single_quotes(words), in_single_quotes(candidates(program, command)));
  });
  return fmt::format(
      R"(# Completion of labrig for bash: source it, or put it where bash-completion looks.
_labrig() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path="" next words i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next=${{COMP_WORDS[i]}}
    case "${{path:+$path }}$next" in
      {}) path="${{path:+$path }}$next" ;;
    esac
  done
  case "$path" in
    '') words={} ;;
{}  esac
  case "$before" in
    --lab|new) words=$(labrig completions --lab-ids 2>/dev/null) ;;
    hint) words=$(labrig completions --check-ids 2>/dev/null) ;;
    completions) words="bash zsh fish" ;;
    --format) words="html json junit gradescope markdown csv trace github classroom" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$path $word" in
    ' '*|*' -'*|plugin\ *|report\ *|kit\ *|hint\ *|new\ *|completions\ *) ;;
    *) COMPREPLY+=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _labrig labrig
)",
      [&] {
        std::vector<std::string> paths;
        walk(program, "", [&](const CLI::App&, const std::string& words) { paths.push_back(in_single_quotes(words)); });
        return joined(paths, "|");
      }(),
      in_single_quotes(candidates(program, program)), cases);
}

std::string zsh_completion(const CLI::App& program) {
  return "#compdef labrig\n# Completion of labrig for zsh, which can use bash's.\nautoload -U +X bashcompinit && "
         "bashcompinit\n" +
         bash_completion(program);
}

std::string fish_completion(const CLI::App& program) {
  std::string out = "# Completion of labrig for fish.\n";
  walk(program, "", [&](const CLI::App& command, const std::string& words) {
    const std::size_t space = words.rfind(' ');
    const std::string parent = space == std::string::npos ? "" : words.substr(0, space);
    out += fmt::format(
        "complete -c labrig -n {} -f -a {} -d {}\n",
        in_single_quotes(parent.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + parent),
        in_single_quotes(command.get_name()), in_single_quotes(command.get_description()));
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames())
        out += fmt::format("complete -c labrig -n {} -l {}{} -d {}\n",
                           in_single_quotes("__fish_seen_subcommand_from " + command.get_name()), name,
                           option->get_type_size() != 0 ? " -r" : "", in_single_quotes(option->get_description()));
  });
  return out +
         "complete -c labrig -n '__fish_seen_subcommand_from new' -f -a '(labrig completions --lab-ids)'\n"
         "complete -c labrig -n '__fish_seen_subcommand_from hint' -f -a '(labrig completions --check-ids)'\n";
}

std::string manual_page(const CLI::App& program, const std::string& version) {
  std::string out = fmt::format(".TH LABRIG 1 \"\" \"labrig {}\" \"User commands\"\n", troff(version));
  out += ".SH NAME\nlabrig \\- run and grade GPU programming labs\n";
  out += ".SH SYNOPSIS\n\\fBlabrig\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n", troff(program.get_description()));
  out += "A submission runs in a process of its own against a simulated card; no GPU is needed.\n.SH OPTIONS\n";
  for (const CLI::Option* option : program.get_options()) out += manual_option(*option);
  out += ".SH COMMANDS\n";
  walk(program, "", [&](const CLI::App& command, const std::string& words) { out += manual_command(command, words); });
  out += fmt::format(".SH EXIT STATUS\n.nf\n{}\n.fi\n", troff(program.get_footer()));
  out +=
      ".SH ENVIRONMENT\n.TP\n\\fBLABRIG_LABS\\fR\nA folder with labs, searched after \\-\\-labs.\n"
      ".TP\n\\fBLABRIG_CXX\\fR\nThe compiler for submissions.\n"
      ".TP\n\\fBXDG_CACHE_HOME\\fR\nWhere built submissions and reference figures are kept, in labrig.\n"
      ".TP\n\\fBNO_COLOR\\fR\nWhen not empty: no colours.\n";
  return out;
}

std::string nearest_command(const CLI::App& program, const std::string& word) {
  std::string nearest;
  std::size_t least = 3;  // more than two letters off is another word
  for (const CLI::App* command : commands_of(program)) {
    const std::size_t off = distance(word, command->get_name());
    if (off < least && off < word.size()) least = off, nearest = command->get_name();
  }
  return nearest;
}

}  // namespace labrig::app
