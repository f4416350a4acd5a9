#!/bin/bash
# commands.sh DOCUMENT BUILD SOURCE: runs every command of the document's ```sh blocks, in their order and in one shell, as a
# reader would: in a folder that looks like the project's root, with a home of its own and `labrig` on the PATH. A command must
# end with 0, or with what its comment says:
#
#   labrig grade my-lab --lab scale        # exits 1: the starter has no points
#   labrig check my-lab --watch            # until Ctrl-C
#
# The verbs of make that build and test everything are left out: they run this.
set -euo pipefail
document=$1 build=$(realpath "$2") source=$(realpath "$3")
home=$(mktemp -d)
trap 'cd /; rm -rf "$home"' EXIT
mkdir "$home/root"
for entry in "$source"/*; do
  [[ $(basename "$entry") == build* ]] || ln -s "$entry" "$home/root/"
done
ln -s "$build" "$home/root/build"
cd "$home/root"
export HOME=$home XDG_CACHE_HOME=$home/cache PATH=$build/bin:$PATH NO_COLOR=1
unset LABRIG_LABS CI GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITHUB_OUTPUT GITLAB_CI
steps=0 left_out=0

# step LINE COMMAND
step() {
  local line=$1 command=$2 expected=0 code=0
  if [[ $command =~ ^make\ (demo|test|test-full|build|setup|bundle|device|approve)( |$) ]]; then
    left_out=$((left_out + 1))
    return
  fi
  if [[ $command =~ \#\ exits\ ([0-9]+) ]]; then expected=${BASH_REMATCH[1]}; fi
  printf '+ %s\n' "$command"
  set +e
  if [[ $command == *"# until Ctrl-C"* ]]; then
    timeout --foreground -s INT 20 bash -c "${command%%#*}"
    code=$?
    [ $code -eq 124 ] && code=0  # it ran until it was stopped
  else
    eval "$command" </dev/null
    code=$?
  fi
  set -e
  steps=$((steps + 1))
  if [ "$code" -ne "$expected" ]; then
    echo "$document:$line: exit code $code, expected $expected"
    exit 1
  fi
}

number=0 inside=0 pending="" first=0
while IFS= read -r line || [ -n "$line" ]; do
  number=$((number + 1))
  if [ $inside -eq 0 ]; then
    [[ $line == '```sh' ]] && inside=1
    continue
  fi
  if [[ $line == '```' ]]; then
    [ -z "$pending" ] || { echo "$document:$first: the command does not end"; exit 1; }
    inside=0
    continue
  fi
  [[ -z $pending && ($line == "" || $line == \#*) ]] && continue
  [ -n "$pending" ] || first=$number
  pending+=${pending:+$'\n'}$line
  # A command of several lines is complete when it parses.
  if [[ $line != *\\ ]] && bash -n <<<"$pending" 2>/dev/null; then
    command=$pending
    pending=""
    step "$first" "$command"
  fi
done < <(cat "$source/$document")
[ $steps -gt 0 ] || { echo "$document: no command was run"; exit 1; }
echo "$document: $steps commands ran, $left_out were left out"
