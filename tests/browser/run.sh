#!/bin/bash
# run.sh SCRIPT FOLDER PAGES-PROGRAM HANDOUT-PROGRAM: renders the pages and the labs' handouts into FOLDER, installs the pinned
# packages there from the npm registry when they are not there yet, and runs SCRIPT on the pages in Chromium. Exit 77: skipped,
# with the reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=$1 folder=$2 pages_program=$3 handout_program=$4

# skip REASON: an error in CI on Debian, where tools/setup.sh --test installs all that is needed.
skip() {
  echo "skipped: $1"
  if [ -n "${CI:-}" ] && grep -q '^ID=debian$' /etc/os-release 2>/dev/null; then
    echo "in CI on Debian these tests must run: tools/setup.sh --test installs what they need"
    exit 1
  fi
  exit 77
}

command -v node >/dev/null || skip "no node on this machine (apt-get install nodejs npm)"
command -v npm >/dev/null || skip "no npm on this machine (apt-get install npm)"
node_version=$(node --version)
[ "$(sed 's/^v\([0-9]*\).*/\1/' <<<"$node_version")" -ge 18 ] || skip "node is $node_version; the packages need 18 or later"

browser=""
for name in chromium google-chrome chromium-browser; do
  # Ubuntu's packages of the first and the last name are scripts or links that lead to another store's program.
  if path=$(command -v "$name") && ! grep -qs snap "$(readlink -f "$path")"; then
    browser=$path
    break
  fi
done
[ -n "$browser" ] || skip "no chromium on this machine (Debian: apt-get install chromium; Ubuntu's package is only a pointer to a snap)"

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# Once for all tests that run at the same time; again when the lock file has changed.
exec 9>"$folder/lock"
flock 9
if ! cmp -s "$here/package-lock.json" "$folder/node_modules/installed-lock.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$folder/"
  if ! (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 </dev/null); then
    tail -5 "$folder/npm.log"
    grep -qE 'ENOTFOUND|EAI_AGAIN|CERT|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|network|E50[0-9]' "$folder/npm.log" &&
      skip "the npm registry cannot be reached"
    exit 1
  fi
  cp "$here/package-lock.json" "$folder/node_modules/installed-lock.json"
fi
flock -u 9

pages=$folder/$(basename "$script" .mjs)
mkdir -p "$pages"
handouts=()
for source in "$here"/../../labs/*/handout.md; do
  handouts+=("$pages/handout-$(basename "$(dirname "$source")").html")
  "$handout_program" "$source" "${handouts[-1]}" >/dev/null
done
"$pages_program" write "$pages" "${handouts[@]}"
node "$here/$script" "$folder/node_modules" "$browser" "$pages"
