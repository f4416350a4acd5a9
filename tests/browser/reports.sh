#!/bin/sh
# reports.sh PROBE TEMPLATE: lets PROBE render the pages into TEMPLATE, opens the result in headless chromium and expects
# the line "probe: ok (N pages)". Exit 77: skipped.
set -eu
browser=""
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then browser=$name; break; fi
done
if [ -z "$browser" ]; then
  echo "skipped: no chromium on this machine (apt-get install chromium)"
  exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$1" "$2" > "$dir/probe.html"
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$dir/profile" --window-size=1400,1000 \
  --virtual-time-budget=60000 --dump-dom "file://$dir/probe.html" > "$dir/dom.html" 2> "$dir/log" || {
  echo "chromium ended with an error:"; tail -5 "$dir/log"; exit 1; }
# The result stands alone in one element, a finding a line.
sed -n '/<pre id="result">/,/<\/pre>/p' "$dir/dom.html" | sed 's/<[^>]*>//g'
grep -q 'probe: ok ([1-9][0-9]* pages)' "$dir/dom.html"
