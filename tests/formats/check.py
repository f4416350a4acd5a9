"""Reads every file with Python's own parsers and compares what stands in it with report.json."""
import csv
import json
import pathlib
import re
import sys
import unicodedata
import xml.etree.ElementTree as xml

MIB = 1 << 20


def strict(text):
    def refuse(name):
        raise ValueError(name + " is no JSON")
    return json.loads(text, parse_constant=refuse)


def check_junit(folder, report):
    suite = xml.parse(folder / "junit.xml").getroot().find("testsuite")
    cases = suite.findall("testcase")
    assert len(cases) == len(report["checks"]) == int(suite.get("tests"))
    assert len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases), "two tests of one name"
    for case, check in zip(cases, report["checks"]):
        assert (case.find("failure") is not None) == (check["status"] in ("failed", "partial"))
        assert case.get("name").strip() and case.get("classname").strip()
        assert case.find("failure") is None or case.find("failure").text.strip(), "GitLab shows the text"
        assert case.get("file") is None
    assert len(suite.findall("testcase/failure")) == int(suite.get("failures"))


def check_csv(folder, report):
    raw = (folder / "report.csv").read_bytes()
    assert raw.count(b"\r\n") >= len(report["checks"]) + 1
    rows = list(csv.DictReader(raw.decode("utf-8").splitlines(keepends=True), strict=True))
    assert len(rows) == len(report["checks"])
    for row, check in zip(rows, report["checks"]):
        assert None not in row and float(row["points"]) == check["points"] and float(row["max_points"]) == check["max_points"]
        for key in ("submission", "check", "title", "reason_code", "reason_text"):
            assert not row[key].startswith(("=", "+", "-", "@", "\t", "\r")), (key, row[key])


def check_gradescope(folder, report):
    results = strict((folder / "results.json").read_text("utf-8"))
    assert results["score"] == report["score"] and results["stdout_visibility"] == "hidden"
    for test, check in zip(results["tests"], report["checks"], strict=True):
        assert isinstance(test["score"], (int, float)) and test["score"] == check["points"]
        assert test["visibility"] in ("visible", "after_published") and test["output_format"] == "text"
        assert test["status"] in ("passed", "failed") and isinstance(test["number"], str)
    assert abs(sum(t["score"] for t in results["tests"]) - results["score"]) < 1e-9


def check_trace(folder, report):
    events = strict((folder / "trace.json").read_text("utf-8"))["traceEvents"]
    names = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    traced = sum(one["trace"] is not None for one in report["cases"])
    assert sum(e["name"] == "process_name" for e in events) >= traced
    for event in events:
        assert event["ph"] in "XMCi" and isinstance(event["pid"], int) and event["tid"] < 2**53
        if event["ph"] == "X":
            assert event["dur"] >= 0 and (event["pid"], event["tid"]) in names
        if event["ph"] != "M":
            assert isinstance(event["ts"], (int, float)) and 0 <= event["ts"] < 1e9


def hides(sign):
    """Whether a sign has no shape, or changes how its neighbours look. Written from Unicode's tables."""
    c = ord(sign)
    joiners, numbers = (0x200C, 0x200D), (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)
    return (unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in joiners + numbers
            or c & 0xFFFE == 0xFFFE or 0xFDD0 <= c <= 0xFDEF)


def check_signs(folder):
    """No file has a sign that moves, hides or reorders, but the line breaks of its format and the gaps of Markdown."""
    for name in ("junit.xml", "results.json", "report.md", "github.md", "report.csv", "trace.json", "report.html"):
        text = (folder / name).read_bytes().decode("utf-8")
        assert not {sign for sign in set(text) - set("\n\r\t") if hides(sign)}, (folder.name, name)


def check_texts(folder, hostile):
    for name in ("report.md", "github.md"):
        page = (folder / name).read_bytes().decode("utf-8")
        assert len(page.encode()) < MIB
        if hostile:
            # What stands in code shows as it is.
            page = re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", page, flags=re.S | re.M)
            page = re.sub(r"(?<!\\)(`+)[^`\n]+\1", "", page)
            assert "<script" not in page and "\x1b" not in page and "\u202e" not in page


folders = sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.is_dir())
for folder in folders:
    report = strict((folder / "report.json").read_text("utf-8"))
    check_junit(folder, report)
    check_csv(folder, report)
    check_gradescope(folder, report)
    check_trace(folder, report)
    check_texts(folder, folder.name.startswith("string-"))
    check_signs(folder)
assert len(folders) > 20
print(f"python: {len(folders)} folders: xml (expat), csv, json read them, and say what report.json says")
