"""What Classroom's reporter does with the variable of a step: held against its recorded answers, then done with ours."""
import base64
import json
import pathlib
import sys


def stored(payload):
    """The points that the reporter stores; None where it stores none. Its log counts passed tests instead."""
    tests = payload.get("tests")
    if tests is None or not payload.get("max_score"):
        return None
    scores = [test.get("score") for test in tests]
    if any(not isinstance(score, (int, float)) for score in scores):
        return "damaged"  # a missing score makes the sum null, a text is joined to it
    total = 0
    for score in scores:  # one by one, as the reporter does; sum() of later Pythons makes up for what rounding took
        total += score
    return total


recorded = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))
for name, case in recorded.items():
    payload = json.loads(base64.b64decode(case["base64"]))
    said = [line for line in case["reporter_43c2d9f_did"] if line.startswith("stored ")]
    points = json.loads(said[0][len("stored "):])["totalPoints"] if said else None
    ours = stored(payload)
    assert points == ours or (ours == "damaged" and not isinstance(points, (int, float))), (name, points, ours)

count = 0
for file in sorted(pathlib.Path(sys.argv[2]).glob("*/classroom.txt")):
    text, report = file.read_text("ascii"), json.loads((file.parent / "report.json").read_text("utf-8"))
    assert len(text) < 131072 - 256, "one string of the environment"
    assert stored(json.loads(base64.b64decode(text, validate=True))) == report["score"], file
    count += 1
assert count > 20
print(f"classroom: {len(recorded)} recorded answers understood, {count} of our payloads store labrig's score")
