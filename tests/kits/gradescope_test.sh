#!/bin/bash
# gradescope_test.sh BUILD SOURCE: the autograder zip, laid out as Gradescope does in a folder of our own, comes to scores; what
# students wrote can read no secret. Needs no network: a compiler is there.
. "$(dirname "$0")/common.sh"
lab=transfer-cost
export LABRIG_AUTOGRADER_ROOT=$work/autograder LABRIG_AUTOGRADER_USER=nobody
root=$LABRIG_AUTOGRADER_ROOT
results=$root/results/results.json
needs unzip unzip
score() { json "$results" '"%g" % r.get("score", sum(t.get("score", 0) for t in r["tests"]))'; }

# submit FILE: grades it as run_autograder does.
submit() {
  rm -rf "$root/submission"
  mkdir -p "$root/submission"
  cp "$1" "$root/submission/submission.cpp"
  exits "${2:-0}" "$root/run_autograder"
}

test_that "the same content gives the same bytes"
exits 0 "$labrig" kit gradescope --lab $lab --out "$work/one.zip"
exits 0 "$labrig" kit gradescope --lab $lab --out "$work/two.zip" --json
cmp "$work/one.zip" "$work/two.zip" || fail "the two archives differ"
[ "$(json "$work/said" 'r["bytes"] < 100_000_000')" = True ] || fail "Gradescope takes 100 MB"

test_that "setup.sh and run_autograder lie at the root, and no solution or variant anywhere"
python3 - "$work/one.zip" <<'PY' || fail "the archive is not as it should be"
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
names = archive.namelist()
assert {"setup.sh", "run_autograder"} <= set(names), names
assert not [n for n in names if "solution" in n or "plugins/" in n or n == "secret"], names
for name in ("setup.sh", "run_autograder", "labrig/bin/labrig"):
    assert archive.getinfo(name).external_attr >> 16 & 0o111, name
PY

test_that "with a course secret the figures for its sizes are in the zip, and the secret is for root alone"
echo "a secret of this test" >"$work/course.secret"
exits 0 "$labrig" kit gradescope --lab $lab --secret-file "$work/course.secret" --out "$work/secret.zip"
mkdir -p "$root/source"
unzip -q "$work/secret.zip" -d "$root/source"
exits 0 bash "$root/source/setup.sh"
equal "$(stat -c %a "$root/source/secret")" 600
cp "$root/source/run_autograder" "$root/"

test_that "the solution gets all points, with metadata and without"
submit "$source/labs/01-transfer-cost/solution/submission.cpp"
equal "$(score)" 100
echo '{"id": "not what anybody expects", "users": null}' >"$root/submission_metadata.json"
submit "$source/labs/01-transfer-cost/solution/submission.cpp"
equal "$(score)" 100

test_that "the starter gets none"
submit "$source/labs/01-transfer-cost/starter/submission.cpp"
equal "$(score)" 0

test_that "what does not compile is a result, not a failure of the autograder"
echo 'int main( {' >"$work/broken.cpp"
submit "$work/broken.cpp"
equal "$(score)" 0
contains "$results" "does not compile"

test_that "an empty upload is a result too"
rm -rf "$root/submission" && mkdir "$root/submission"
exits 0 "$root/run_autograder"
equal "$(score)" 0

test_that "a folder inside an uploaded zip is found"
mkdir -p "$root/submission/my-answer"
cp "$source/labs/01-transfer-cost/solution/submission.cpp" "$root/submission/my-answer/"
exits 0 "$root/run_autograder"
equal "$(score)" 100

test_that "a broken program leaves no result, so that nobody gets a zero for it"
mv "$root/labrig/bin/labrig-supervisor" "$root/labrig/bin/away"
exits 4 "$root/run_autograder"
[ ! -e "$results" ] || fail "there is a result"
mv "$root/labrig/bin/away" "$root/labrig/bin/labrig-supervisor"

test_that "results are there while cases still run, and stay when time is up"
sed 's/Tensor constant(.*{/&\n    for (;;) sleep(1);/' "$source/labs/01-transfer-cost/solution/submission.cpp" >"$work/slow.cpp"
sed -i '1i #include <unistd.h>' "$work/slow.cpp"
grep -q 'for (;;) sleep' "$work/slow.cpp" || fail "the solution of lab 01 looks different; change this test"
rm -rf "$root/submission" && mkdir "$root/submission"
cp "$work/slow.cpp" "$root/submission/submission.cpp"
rm -f "$results"
XDG_CACHE_HOME=$root/cache "$root/labrig/bin/labrig" --quiet kit autograde --root "$root" --secret-file "$root/source/secret" \
  >"$work/said" 2>&1 &
grading=$!
for _ in $(seq 600); do
  [ -s "$results" ] && [ "$(json "$results" 'sum(t.get("score", 0) for t in r["tests"]) > 0')" = True ] && break
  sleep 0.1
done
kill -INT $grading
code=0
wait $grading || code=$?
equal "$code" 130
# 85 points are task 1's: what has not run when time is up earns nothing, or a submission would sleep through what it cannot do.
[ "$(json "$results" '0 < sum(t.get("score", 0) for t in r["tests"]) <= 85')" = True ] || fail "points for cases that have not run"

if [ "$(id -u)" -eq 0 ]; then
  test_that "what students wrote reads neither secret nor hidden sizes nor expected values, and writes no result"
  sed "s#ROOT#$root#g" "$(dirname "$0")/spy.cpp" >"$work/spy.cpp"
  submit "$work/spy.cpp"
  contains "$results" "spied: nothing"
  equal "$(score)" 0

  test_that "a folder that the other user cannot reach is an error of the setup, not a student's zero"
  chmod 700 "$work"
  exits 4 bash "$root/source/setup.sh"
  contains "$work/said" "a folder on the way is closed"
  LABRIG_AUTOGRADER_USER='' exits 0 bash "$root/source/setup.sh"
  chmod 755 "$work"
  exits 0 bash "$root/source/setup.sh"

  test_that "the compiler reads them no more than the program does"
  printf '#include "%s/source/secret"\n' "$root" >"$work/include.cpp"
  submit "$work/include.cpp"
  lacks "$results" "a secret of this test"
  contains "$results" "Permission denied"
else
  echo "- left out: that other users read no secret needs root to be tested"
fi
echo "gradescope: all is well"
