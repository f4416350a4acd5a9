#!/bin/bash
# check.sh PROGRAM: lets PROGRAM (labrig-format-files) write all files, and lets others read them. Exit 77: skipped, because one of
# them is not installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for program in xmllint python3; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed (apt-get install libxml2-utils python3)"; exit 77; }
done
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
"$1" "$files"
for schema in jenkins windyroad; do
  xmllint --noout --huge --schema "$here/$schema.xsd" "$files"/*/junit.xml 2>"$files/log" || { grep -v validates "$files/log" | head -20; exit 1; }
done
echo "xmllint: $(ls -d "$files"/*/ | wc -l) files valid against both schemas"
python3 "$here/check.py" "$files"
python3 "$here/families.py" "$files"
python3 "$here/classroom.py" "$here/../golden/exports/classroom_payloads.json" "$files"
