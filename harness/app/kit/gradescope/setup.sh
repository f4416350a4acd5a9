#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: a C++ compiler, a user for what students wrote, and the
# program in a place where that user may read what it needs and nothing else.
set -euo pipefail
root=${LABRIG_AUTOGRADER_ROOT:-/autograder}
user=${LABRIG_AUTOGRADER_USER-labrig-student} # empty: none of its own

if ! command -v g++ >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  apt-get install -y -q --no-install-recommends g++
fi

rm -rf "$root/labrig"
cp -r "$root/source/labrig" "$root/labrig"
chmod -R u+rwX,go+rX,go-w "$root/labrig"
chmod +x "$root/labrig"/bin/*

# Expected values, hidden sizes and the course's secret are for root alone.
chmod go= "$root/labrig"/labs/*/judge.so "$root/labrig"/labs/*/lab.toml "$root/labrig"/labs/*/reference.json
[ ! -e "$root/source/secret" ] || chmod go= "$root/source/secret"
if [ "$(id -u)" -eq 0 ] && [ -n "$user" ]; then
  id "$user" >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$user"
  if ! setpriv --reuid="$user" --clear-groups -- test -x "$root/labrig/bin/labrig-worker"; then
    echo "error: the user $user cannot reach $root/labrig" >&2
    echo "  why: what students wrote runs as that user, and a folder on the way is closed to others" >&2
    echo "  fix: chmod o+x those folders, or LABRIG_AUTOGRADER_USER= to run without a user of its own" >&2
    exit 4
  fi
fi
