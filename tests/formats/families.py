"""Texts of every kind that readers take amiss, as ids, titles and reasons of checks: each comes back whole, as labrig shows
it, from every format. What it must look like is worked out here anew, from the bytes and Unicode's tables."""
import base64
import csv
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as xml

NO_SHAPE = {0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0x2060, 0x2070),
            *range(0xFDD0, 0xFDF0), *range(0x13430, 0x13440), *range(0xE0000, 0xE1000)}


def escaped(sign, kept):
    c = ord(sign)
    hidden = unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") and c not in (0x200C, 0x200D)
    if sign in kept or not (hidden or c in NO_SHAPE or c & 0xFFFE == 0xFFFE):
        return sign
    return f"\\x{c:02x}" if c < 0x80 else f"\\u{c:04x}" if c < 0x10000 else f"\\U{c:08x}"


def shown(raw, kept="", limit=2000):
    part = raw[:limit]
    while part != raw and raw[len(part)] & 0xC0 == 0x80 and len(part) > limit - 3:
        part = part[:-1]
    text = "".join(escaped(sign, kept) for sign in part.decode("utf-8", "backslashreplace"))
    return text if part == raw else f"{text}… ({len(raw) - len(part)} more bytes)"


def read_texts(file):
    data, texts = file.read_bytes(), []
    while data:
        size, data = data.split(b"\n", 1)
        texts.append(data[:int(size)])
        data = data[int(size):]
    return texts


def check_csv(folder, texts):
    rows = csv.DictReader((folder / "report.csv").read_bytes().decode("utf-8").splitlines(keepends=True), strict=True)
    for row, raw in zip(rows, texts, strict=True):
        for key in ("check", "title"):
            text = shown(raw)
            formula = text.lstrip(" ").startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"))
            assert row[key] == ("'" if formula else "") + text, (key, raw, row[key])
        assert not re.match(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]", row["reason_text"].lstrip(" ")), row["reason_text"]


def check_junit(folder, texts):
    names = set()
    for case, raw in zip(xml.parse(folder / "junit.xml").getroot().iter("testcase"), texts, strict=True):
        name = case.get("name")
        assert name not in names, "a reader takes the first of two tests of one name"
        names.add(name)
        assert re.fullmatch(re.escape(shown(raw) if shown(raw).strip(" ") else "unnamed") + r"( \(\d+\))*", name), (raw, name)
        failure, told = case.find("failure"), shown(raw, "\n\t")
        assert failure.text.startswith(shown(raw) + "\n"), raw
        assert failure.get("message") == re.sub(r"[\n\t]", " ", told or shown(raw)), (raw, failure.get("message"))


def check_gradescope(folder, texts):
    tests = json.loads((folder / "results.json").read_text("utf-8"))["tests"]
    for test, raw in zip(tests, texts, strict=True):
        assert test["name"] == test["extra_data"]["check"] == shown(raw) and test["name_format"] == "text"
        assert test["output"].startswith(shown(raw) + "\n") or not raw


def check_classroom(folder):
    payload = json.loads(base64.b64decode((folder / "classroom.txt").read_text("ascii"), validate=True))
    for test in payload["tests"]:
        for text in (test["name"], test.get("message", "")):
            assert "##[" not in text and not re.search(r"(?m)^\s*::", text), text



class Page(html.parser.HTMLParser):
    """The tags of a page, and the texts of the cells of its first table."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.rows, self.cell, self.tables = set(), [], None, 0

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.tables += tag == "table"
        if tag == "tr" and self.tables == 1:
            self.rows.append([])
        if tag == "td" and self.tables == 1:
            self.cell = ""

    def handle_endtag(self, tag):
        if tag == "td" and self.cell is not None:
            self.rows[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def check_markdown(folder, texts):
    if not shutil.which("cmark-gfm"):
        return "without cmark-gfm, which is not installed"
    extensions = [part for name in ("table", "strikethrough", "autolink", "footnotes", "tasklist") for part in ("-e", name)]
    for name in ("report.md", "github.md"):
        page = Page()
        page.feed(subprocess.run(["cmark-gfm", "--unsafe", *extensions, folder / name], capture_output=True, text=True,
                                 check=True).stdout)
        allowed = {"h2", "h3", "h4", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "br"}
        assert page.tags <= allowed, page.tags - allowed
        told = [row for row in page.rows if row and not row[0].startswith("… ")][: len(texts)]
        if name == "github.md":
            assert len(told) == len(texts)
        for row, raw in zip(told, texts):
            if row[0] == "…":
                break
            for cell in (row[0], row[4]):
                assert cell.replace("\u200b", "") == shown(raw).strip(" "), (raw, cell)
            assert not re.search(r"(?<!\w)@\w|#\d|://|(?i:www\.|gh-\d)|:[a-z_+-]+:", row[4]), row[4]
    return "and cmark-gfm"


folder = pathlib.Path(sys.argv[1]) / "families"
texts = read_texts(folder / "texts.bin")
assert len(texts) > 500
check_csv(folder, texts)
check_junit(folder, texts)
check_gradescope(folder, texts)
check_classroom(folder)
print(f"families: {len(texts)} texts come back from csv, xml, json", check_markdown(folder, texts))
