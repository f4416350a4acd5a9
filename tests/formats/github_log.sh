#!/bin/bash
# github_log.sh LABRIG SOURCE: grades, as a step of GitHub Actions does, a submission whose compiler message holds commands of
# GitHub's log, and looks at all that the step reads: the log, the page, the output.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
labrig=$1 source=$2
unset LABRIG_LABS GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITHUB_OUTPUT CI
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $1" >&2; exit 1; }
mkdir labs && cp -r "$source/labs/01-transfer-cost" labs/transfer-cost
"$labrig" --labs labs new transfer-cost answer >/dev/null
printf '#error ##[add-mask]secret\n' >answer/submission.cpp
grade() { "$labrig" --labs labs grade answer --lab transfer-cost "$@" && return 0 || [ $? = 3 ] || fail "grade did not end with 3"; }

grade >plain 2>&1
grep -qF '##[add-mask]' plain || fail "nothing was tried: the message does not hold the command"

export GITHUB_ACTIONS=true
GITHUB_STEP_SUMMARY=page GITHUB_OUTPUT=output grade --out report --format github,classroom >log 2>&1
grep -q '^::error title=' log || fail "the log has no message"
# A line that is a command of ours ends there: what follows is its data, and is not searched for another.
grep -v '^::\(error\|warning\|notice\) title=' log >others
! grep -qE '##\[|^[[:space:]]*::' others || fail "a line that is not ours is a command"
[ "$(cat output)" = "result=$(cat report/classroom.txt)" ] || fail "the output is not Classroom's payload"
grep -q 'transfer-cost' page || fail "the step has no page"

grade --json >json 2>/dev/null
! grep -qF '##[' json || fail "a command stands in the JSON"
python3 -c 'import json; assert "##[add-mask]" in str(json.load(open("json")))' || fail "JSON reads differently"

head -c 1048000 /dev/zero | tr '\0' x >full
GITHUB_STEP_SUMMARY=full grade --out report2 --format github >/dev/null 2>&1
[ "$(stat -c %s full)" -le 1048576 ] || fail "the page has more than 1 MiB and is lost"
tail -c 200 full | grep -q 'did not fit' || fail "nothing says that a report is missing"
echo "the log, the page and the output hold no command that a submission made up"
