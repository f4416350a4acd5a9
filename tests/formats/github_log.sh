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

# What is rendered later is held against the schema first, and shows students nothing of hidden cases either.
export GITHUB_ACTIONS=true
python3 - report/report.json <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
report["cases"] = [dict(scenario="s", kind="k", device="cpu", profile=None, seed=None, visibility="hidden", id="hidden@x",
                        status="wrong_values", phase="call", reason={"code": "wrong-values", "text": "of 4711"}, parameters={},
                        output={"text": "4711", "cut": False}, metrics={}, figures={}, reference={}, hazards=[], notes=[],
                        trace=None)]
report["checks"][0]["reason"]["text"] = "of 4711"
report["checks"][0]["explain"] = dict.fromkeys(("what", "where", "cause", "next", "evidence"), "of 4711")
json.dump(report, open("hidden.json", "w"))
report["checks"][1]["points"] = -1
report["checks"][2]["status"] = "<b>"
json.dump(report, open("bad.json", "w"))
PYTHON
GITHUB_STEP_SUMMARY=later GITHUB_OUTPUT=output2 "$labrig" report render hidden.json --out rendered \
  --format github,classroom,gradescope >log2 2>&1 || fail "a report is not rendered: $(cat log2)"
cut -d= -f2- output2 | base64 -d >payload
! grep -q 4711 log2 later payload rendered/github.md rendered/results.json || fail "a hidden case is told"
"$labrig" report render hidden.json --out rendered --format markdown >/dev/null && grep -q 4711 rendered/report.md ||
  fail "the instructor's copy does not tell it"

python3 - <<'PYTHON'
report = open("hidden.json").read().rstrip()
open("deep.json", "w").write(report[:-1] + ', "more": ' + "[" * 300000 + "]" * 300000 + "}")
open("later.json", "w").write(report[:-1] + ', "more": [[1]]}')
open("command.json", "w").write(report[:-1] + ', "more": "##[add-mask]x"}')
PYTHON
"$labrig" report render later.json --out later.out --format csv >/dev/null 2>warning || fail "a member of a later version is not left out"
grep -q '^warning: more in later.json is a list of 1; the schema of reports wants no member of this name' warning ||
  fail "it is not told what is left out: $(cat warning)"
GITHUB_ACTIONS=true "$labrig" report render command.json --out later.out --format csv >/dev/null 2>warning
grep -q 'more in command.json' warning && ! grep -qF '##[' warning || fail "a warning holds a command: $(cat warning)"
for bad in bad.json deep.json log later nothing.json; do
  "$labrig" report render $bad --out refused --format junit >refusal 2>&1 && fail "$bad is rendered" || [ $? = 2 ] ||
    fail "$bad does not end with 2"
  grep -q '^  why: ' refusal && grep -q '^  fix: ' refusal || fail "no reason is told for $bad"
done
[ ! -e refused ] || fail "something was written of a report that is none"
"$labrig" report render bad.json --out refused >refusal 2>&1 || true
grep -q 'checks\[1\].points is -1' refusal && grep -q 'a number, 0 or more (and 1 more place)' refusal ||
  fail "it is not told what is wrong where: $(cat refusal)"
unset GITHUB_ACTIONS

head -c 1048000 /dev/zero | tr '\0' x >full
GITHUB_STEP_SUMMARY=full grade --out report2 --format github >/dev/null 2>&1
[ "$(stat -c %s full)" -le 1048576 ] || fail "the page has more than 1 MiB and is lost"
tail -c 200 full | grep -q 'did not fit' || fail "nothing says that a report is missing"
# Room for a part of a report: it is cut, not left out.
head -c 900000 /dev/zero | tr '\0' x >half
python3 - report/report.json <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
report["checks"] = [dict(report["checks"][0], id=f"check-{i}", reason={"code": "x", "text": f"reason {i}"}) for i in range(5000)]
report["max_score"] = sum(check["max_points"] for check in report["checks"])
json.dump(report, open("many.json", "w"))
PYTHON
GITHUB_STEP_SUMMARY=half "$labrig" report render many.json --out many --format github >/dev/null
[ "$(stat -c %s half)" -le 1048576 ] || fail "the page has more than 1 MiB and is lost"
grep -q 'check-100' half && grep -q 'more checks do not fit here' half || fail "the report is not cut to the room that is left"
echo "the log, the page and the output hold no command that a submission made up"
