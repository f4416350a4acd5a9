#!/bin/bash
# student_test.sh BUILD SOURCE: the student kit checks and grades by itself, moved elsewhere, and tells nothing that students
# must not see.
. "$(dirname "$0")/common.sh"
kit=$work/elsewhere/kit

test_that "a kit of all labs is made, and moved"
exits 0 "$labrig" kit student --out "$work/kit" --json
equal "$(json "$work/said" 'len(r["labs"])')" 5
mkdir "$work/elsewhere"
mv "$work/kit" "$kit"

test_that "no solution, variant or hidden scenario is in it"
[ -z "$(find "$kit" -name '*solution*' -o -name '*.labrig.so' -o -path '*plugins*' -o -name lab.cpp)" ] || fail "a solution is in it"
python3 - "$source" "$kit" <<'PY' || fail "the kit tells too much"
import json, pathlib, re, sys
source, kit = map(pathlib.Path, sys.argv[1:])
for lab in sorted((source / "labs").iterdir()):
    if not (lab / "lab.toml").exists():
        continue
    name = lab.name.split("-", 1)[1]
    text = (lab / "lab.toml").read_text()
    blocks = [b for b in re.split(r"(?m)^(?=\[\[)", text) if b.startswith("[[scenario]]")]
    hidden = [re.search(r'(?m)^id = "(.*?)"', b).group(1) for b in blocks if 'visibility = "hidden"' in b]
    assert hidden, name
    shown = (kit / "program/labs" / name / "lab.toml").read_text()
    figures = json.loads((kit / "program/labs" / name / "reference.json").read_text())
    for scenario in hidden:
        assert scenario not in shown, (name, scenario)
        assert not [c for c in figures["cases"] if c["case"].startswith(scenario + "@")], (name, scenario)
    assert "from" not in re.findall(r"\{[^}]*\b(from) = ", shown), name
    assert figures["cases"] and all(c["trace"] or c["case"].count("@cpu") or not c["metrics"] for c in figures["cases"]), name
PY

test_that "no path of this machine is in it"
lacks "$kit/program/share" "$build"
lacks "$kit/labrig.toml" "$source"

test_that "the two commands of its README run: the starter is built and has no points"
mapfile -t commands < <(sed -n '/^```sh$/,/^```$/p' "$kit/README.md" | grep -v '```')
equal "${#commands[@]}" 2
cd "$kit"
exits 0 bash -c "${commands[0]}"
exits 1 bash -c "${commands[1]}"
contains "$work/said" " 0 / 100"

test_that "each lab's solution gets all points of the kit's lab"
for lab in "$source"/labs/[0-9]*; do
  name=$(basename "$lab" | cut -d- -f2-)
  cp "$lab"/solution/* "$kit/$name/"
  exits 0 ./labrig check "$name"
  contains "$work/said" "100 / 100"
done

test_that "the reference's timeline is in the reports of a kit without a solution"
exits 0 ./labrig check transfer-cost --json
equal "$(json "$work/said" 'all(c["trace"]["reference"] for c in r["cases"] if c["trace"])')" True

test_that "as a repository it grades itself, with the reports that its labrig.toml names"
exits 0 ./labrig ci
for lab in "$source"/labs/[0-9]*; do
  for file in report.html report.json junit.xml; do
    [ -s "labrig-reports/$(basename "$lab" | cut -d- -f2-)/$file" ] || fail "there is no $file for $lab"
  done
done

test_that "a folder that is not empty is refused"
exits 2 "$labrig" kit student --out "$kit"
contains "$work/said" "is there already, and not empty"
exits 2 "$labrig" kit student --out ""
contains "$work/said" "a variable may not be set"
test_that "an unknown lab is refused, with the labs there are"
exits 2 "$labrig" kit student --lab no-such-lab --out "$work/other"
contains "$work/said" "transfer-cost"
[ ! -e "$work/other" ] || fail "something was left behind"
equal "$(find "$work" -maxdepth 1 -name '.labrig-kit-*' | wc -l)" 0
echo "student kit: all is well"
