#include "completion_scripts.hpp"

namespace labrig::app {

// Readline has taken the line apart at = and : too, so words are put together again, and what stands before the last of
// these in a candidate is left out, as readline has it already.
std::string_view bash_completion() {
  return R"(# Completion of labrig for bash: source it, or put it where bash-completion looks.
_labrig() {
  local words=() rest=${COMP_LINE:0:COMP_POINT} piece blanks breaks i line answer head
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    piece=${COMP_WORDS[i]}
    blanks=${rest%%[![:blank:]]*}
    rest=${rest#"$blanks"}
    ((i < COMP_CWORD)) || piece=$rest  # up to the cursor
    rest=${rest#"$piece"}
    piece=${piece//[\\\"\']/}
    if ((i == 0)) || [[ -n $blanks ]]; then words+=("${piece/#\~\//$HOME/}"); else words[-1]+=$piece; fi
  done
  breaks=${COMP_WORDBREAKS//[^=:]/}
  head=${words[-1]%"${words[-1]##*[${breaks:- }]}"}
  [[ ${COMP_WORDS[COMP_CWORD]} != [\"\']* ]] || head=  # in quotes nothing is taken apart
  mapfile -t answer < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null </dev/null)
  COMPREPLY=()
  for line in "${answer[@]}"; do
    case "$line" in
      :files) compopt -o default ;;
      :folders) compopt -o dirnames ;;
      *) line=${line%%$'\t'*}; COMPREPLY+=("${line#"$head"}") ;;
    esac
  done
}
complete -o nosort -F _labrig labrig
)";
}

std::string_view zsh_completion() {
  return R"(#compdef labrig
# Completion of labrig for zsh: put it into a folder of fpath as _labrig, or source it after compinit.
_labrig() {
  local line word program=${(Q)words[1]/#\~\//$HOME/}
  local -a answer described
  answer=("${(@f)$("$program" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  for line in $answer; do
    case $line in
      :files) compset -P '--*='; _files; return ;;
      :folders) compset -P '--*='; _files -/; return ;;
    esac
    word=${line%%$'\t'*}
    described+=("${word//:/\\:}:${line#*$'\t'}")
  done
  (( $#described )) && _describe -V labrig described
}
if [[ $funcstack[1] == _labrig ]]; then _labrig "$@"; else compdef _labrig labrig; fi
)";
}

// Files come from fish itself, which knows where the value of --out=… begins.
std::string_view fish_completion() {
  return R"(# Completion of labrig for fish.
function __labrig_next
    set -l words (commandline -opc)
    set -l program (string replace -r '^~/' $HOME/ -- $words[1])
    $program complete -- $words[2..-1] (commandline -ct | string unescape) 2>/dev/null </dev/null
end
function __labrig_wants_files
    set -l next (__labrig_next)
    test "$next" = :files; or begin
        test "$next" = :folders; and string match -q -- '--*=*' (commandline -ct)
    end
end
function __labrig_words
    set -l next (__labrig_next)
    if test "$next" = :folders
        __fish_complete_directories (commandline -ct) ''
    else
        string match -v ':*' -- $next
    end
end
complete -c labrig -e
complete -c labrig -f
complete -c labrig -n 'not __labrig_wants_files' -k -a '(__labrig_words)'
complete -c labrig -n __labrig_wants_files -F
)";
}

}  // namespace labrig::app
