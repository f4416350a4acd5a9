# Shared by the tests of this folder; sourced. BUILD and SOURCE are their first two arguments.
set -euo pipefail
build=$(realpath "$1") source=$(realpath "$2")
labrig=$build/bin/labrig
work=$(mktemp -d)
chmod 755 "$work" # what students wrote runs as another user
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache HOME=$work NO_COLOR=1
unset LABRIG_LABS GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITLAB_CI LABRIG_SECRET LABRIG_RUN_AS CI

# needs PROGRAM PACKAGE
needs() {
  command -v "$1" >/dev/null && return
  echo "SKIPPED: $1 is not installed (apt-get install $2)"
  exit 77
}
needs python3 python3

# The name of what is tested, for the line that says what failed.
about=""
test_that() { about=$*; echo "- $about"; }
fail() { echo "FAILED: $about: $*" >&2; exit 1; }
equal() { [ "$1" = "$2" ] || fail "got '$1', expected '$2'"; }
contains() { grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "$1 does not say '$2'"; }; }
lacks() { ! grep -rqF -- "$2" "$1" || fail "$1 says '$2'"; }
# exits CODE COMMAND...: runs it, with its output in $work/said.
exits() {
  local code=0
  "${@:2}" >"$work/said" 2>&1 </dev/null || code=$?
  [ "$code" -eq "$1" ] || { cat "$work/said" >&2; fail "exit code $code, expected $1: ${*:2}"; }
}
# json FILE EXPRESSION: of the parsed file, called r.
json() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
