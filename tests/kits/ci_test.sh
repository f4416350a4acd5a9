#!/bin/bash
# ci_test.sh BUILD SOURCE: `labrig ci` in a repository, as CI systems call it: exit codes, files, pages, and the workflows that it
# writes.
. "$(dirname "$0")/common.sh"
needs xmllint libxml2-utils
mkdir "$work/repository"
cd "$work/repository"
cp -r "$source/labs/01-transfer-cost/solution" good
cp -r "$source/labs/01-transfer-cost/starter" unfinished
mkdir broken && echo 'int main( {' >broken/submission.cpp

# config TEXT: labrig.toml with this at its end.
config() { printf 'schema = 1\nformats = ["json", "junit"]\n%s\n' "$1" >labrig.toml; }
entry() { printf '[[submission]]\npath = "%s"\nlab = "%s"\nout = "out/%s"\n%s\n' "$1" "${2:-transfer-cost}" "${4:-$1}" "${3:-}"; }

test_that "a submission that passes ends with 0, and its files are there"
config "$(entry good)"
exits 0 "$labrig" ci
contains "$work/said" "good (transfer-cost): passed, 100 of 100 points"
equal "$(wc -l <"$work/said")" 1
equal "$(ls out/good | tr '\n' ' ')" "junit.xml report.json "
xmllint --noout out/good/junit.xml || fail "junit.xml is not XML"

test_that "the worst submission decides, one line each"
config "$(entry good; entry unfinished)"
exits 1 "$labrig" ci
equal "$(wc -l <"$work/said")" 2
config "$(entry broken; entry unfinished; entry good)"
exits 3 "$labrig" ci
contains "$work/said" "broken (transfer-cost): refused, 0 of 100 points; next: "
config "$(entry missing; entry broken; entry good)"
exits 2 "$labrig" ci
contains "$work/said" "missing (transfer-cost): not graded: "
contains "$work/said" "good (transfer-cost): passed, 100"
LABRIG_CXX=/no/such/compiler exits 4 "$labrig" ci
contains "$work/said" "apt-get install g++"

test_that "a file that is wrong says where"
config "$(entry good transfer-cost 'pass_marks = 3')"
exits 2 "$labrig" ci
contains "$work/said" "labrig.toml:7:14: unknown key 'pass_marks'"
config "$(entry good no-such-lab)"
exits 2 "$labrig" ci
contains "$work/said" "there is no lab 'no-such-lab'"
exits 2 "$labrig" ci --config elsewhere.toml
contains "$work/said" "labrig ci --init github"

test_that "a pass mark of the repository takes the place of the lab's"
config "$(entry unfinished transfer-cost 'pass_mark = 0')"
exits 0 "$labrig" ci
equal "$(json out/unfinished/report.json 'r["lab"]["pass_mark"]')" 0.0

test_that "a secret comes from the environment, and must be there"
config "$(entry good transfer-cost 'secret = "COURSE_SECRET"')"
exits 2 "$labrig" ci
contains "$work/said" "the environment variable COURSE_SECRET is not set"
COURSE_SECRET=a-secret-of-this-test exits 0 "$labrig" ci
lacks out a-secret-of-this-test
[ "$(json out/good/report.json 'r["environment"]["secret"]')" != public ] || fail "the public secret was used"

test_that "hidden cases show what students may see, unless the file says otherwise"
equal "$(json out/good/report.json 'any(c["parameters"] for c in r["cases"] if c["visibility"] == "hidden")')" False
config "$(entry good transfer-cost 'view = "instructor"')"
exits 0 "$labrig" ci
equal "$(json out/good/report.json 'all(c["parameters"] for c in r["cases"] if c["visibility"] == "hidden")')" True

test_that "--json answers with one object, --quiet with nothing"
config "$(entry good; entry unfinished)"
exits 1 "$labrig" ci --json
equal "$(json "$work/said" '[r["exit_code"]] + [s["exit_code"] for s in r["submissions"]]')" "[1, 0, 1]"
exits 1 "$labrig" ci --quiet
equal "$(cat "$work/said")" ""

test_that "paths are those of the file's folder, wherever it is called from"
(cd / && exits 1 "$labrig" ci --config "$work/repository/labrig.toml")

test_that "GitHub gets a page for the step and messages at the file, and no command that a submission made up"
mkdir '##[error]forged'
cp unfinished/submission.cpp '##[error]forged/'
config "$(entry unfinished; entry '##[error]forged' transfer-cost '' forged)"
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$work/summary.md exits 1 "$labrig" ci
[ -s "$work/summary.md" ] || fail "no page was written"
grep -q '^::error.*unfinished/submission.cpp\|^::notice.*unfinished/submission.cpp' "$work/said" || fail "there is no message at the file"
! grep -v '^::' "$work/said" | grep -qF '##[error]' || fail "a command was forged"

test_that "each submission's result for Classroom has an output of its own"
config "$(entry good transfer-cost 'formats = ["classroom"]'; entry broken pinned-nonblocking 'formats = ["classroom"]')"
GITHUB_ACTIONS=true GITHUB_OUTPUT=$work/output exits 3 "$labrig" ci
equal "$(cut -d= -f1 "$work/output" | tr '\n' ' ')" "result result-transfer-cost result result-pinned-nonblocking "
equal "$(sed -n 's/^result-transfer-cost=//p' "$work/output")" "$(cat out/good/classroom.txt)"

test_that "GitLab gets the JUnit file that its merge requests show, asked for or not"
printf 'schema = 1\nformats = ["json"]\n%s\n' "$(entry good)" >labrig.toml
rm -r out
GITLAB_CI=true exits 0 "$labrig" ci
[ -s out/good/junit.xml ] || fail "there is no junit.xml"

test_that "--init writes what the CI system reads, and never overwrites"
mkdir "$work/new" && cd "$work/new"
mkdir transfer-cost && cp "$source/labs/01-transfer-cost/solution/submission.cpp" transfer-cost/
exits 0 "$labrig" ci --init github
exits 0 "$labrig" ci --init gitlab
contains "$work/said" "kept as it is: labrig.toml"
exits 0 "$labrig" ci
python3 - <<'PY' || fail "a workflow is not what the CI system reads"
import re
github, gitlab = open(".github/workflows/labrig.yml").read(), open(".gitlab-ci.yml").read()
for text in (github, gitlab):
    assert "\t" not in text and "@" not in text.replace("@v4", ""), text
    assert not re.search(r"https?://|\.(com|io|org|net)\b", text), text
try:
    import yaml
except ImportError:
    print("  (structure only: python3-yaml is not installed)")
    assert re.search(r"(?m)^jobs:\n  grade:\n", github) and re.search(r"(?m)^labrig:\n  image: ", gitlab)
else:
    job = yaml.safe_load(github)["jobs"]["grade"]
    assert [s["run"] for s in job["steps"] if "run" in s] == ["sh setup.sh", "./labrig ci"], job
    assert all("uses" in s or "run" in s for s in job["steps"]) and job["runs-on"]
    job = yaml.safe_load(gitlab)["labrig"]
    assert job["script"] == ["sh setup.sh", "./labrig ci"] and job["artifacts"]["reports"]["junit"], job
PY
echo "ci: all is well"
