#!/bin/bash
# empty_root.sh BUILD SOURCE [SUITE]: both kits in root folders that hold nothing but a minimal system, made with debootstrap, so
# that whatever a kit forgot is missing: the Gradescope zip as Gradescope runs it, the student kit by the commands of its own
# README. Each comes to a score. Needs root, debootstrap and the package registry, and takes minutes: on demand, in
# `make test-full` (`tools/test.sh --full`), not in CI. SUITE: bookworm (default), or another that debootstrap knows.
set -euo pipefail
build=$(realpath "$1") source=$(realpath "$2") suite=${3:-bookworm}
lab=transfer-cost
answer=$source/labs/01-transfer-cost/solution/submission.cpp

skip() { echo "SKIPPED: $1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "a root folder of one's own needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
command -v unzip >/dev/null || skip "unzip is not installed (apt-get install unzip)"

work=$(mktemp -d)
base=$build/empty-root/$suite
finish() { rm -rf --one-file-system "$work"; }
trap finish EXIT

if [ ! -e "$base.done" ]; then
  mkdir -p "$build/empty-root"
  rm -rf "$base"
  debootstrap --variant=minbase "$suite" "$base" >"$build/empty-root/$suite.log" 2>&1 ||
    skip "debootstrap could not make a $suite (see $build/empty-root/$suite.log)"
  touch "$base.done"
fi

# fresh NAME: a copy of the empty system.
fresh() {
  cp -a "$base" "$work/$1"
  cp -L /etc/resolv.conf /etc/hosts "$work/$1/etc/" 2>/dev/null || true
}

# inside NAME COMMAND: as root in that system, which sees no other file and no other process.
inside() {
  unshare --mount --pid --fork --ipc -- bash -c '
    set -e
    mount --make-rprivate /
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash -c "$2"' inside "$work/$1" "$2"
}

# score_of FILE: what Gradescope would show.
score_of() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print("%g" % r.get("score", sum(t.get("score", 0) for t in r["tests"])))' "$1"; }

expect() { [ "$2" = "$3" ] || { echo "FAILED: $1: $2, expected $3"; exit 1; }; echo "ok: $1: $2"; }

echo "== gradescope in an empty $suite"
head -c 32 /dev/urandom | base64 >"$work/course.secret"
"$build/bin/labrig" kit gradescope --lab $lab --secret-file "$work/course.secret" --out "$work/autograder.zip"
fresh gradescope
root=$work/gradescope/autograder
mkdir -p "$root"/{source,submission,results}
unzip -q "$work/autograder.zip" -d "$root/source"
cp "$root/source/run_autograder" "$root/"
printf '{"id": 1, "users": [{"name": "A B", "email": "a@b"}], "assignment": {"title": "Lab", "total_points": "100.0"}}\n' \
  >"$root/submission_metadata.json"
inside gradescope "bash /autograder/source/setup.sh" >"$work/setup.log" 2>&1 || { cat "$work/setup.log"; exit 1; }
cp "$answer" "$root/submission/"
inside gradescope /autograder/run_autograder
expect "the solution's score" "$(score_of "$root/results/results.json")" 100
cp "$build/labs/$lab/starter/submission.cpp" "$root/submission/"
inside gradescope /autograder/run_autograder
expect "the starter's score" "$(score_of "$root/results/results.json")" 0

echo "== the student kit in an empty $suite"
"$build/bin/labrig" kit student --lab $lab --out "$work/kit"
fresh student
cp -r "$work/kit" "$work/student/root/kit"
# The two commands of its README, as they stand there.
sed -n '/^```sh$/,/^```$/p' "$work/kit/README.md" | grep -v '```' >"$work/commands"
expect "commands in the README" "$(wc -l <"$work/commands")" 2
inside student "cd /root/kit && $(sed -n 1p "$work/commands")" >"$work/setup.log" 2>&1 || { cat "$work/setup.log"; exit 1; }
code=0
inside student "cd /root/kit && $(sed -n 2p "$work/commands")" >"$work/check.log" || code=$?
cat "$work/check.log"
expect "exit code for the starter" $code 1
cp "$answer" "$work/student/root/kit/$lab/"
inside student "cd /root/kit && $(sed -n 2p "$work/commands")" | grep -E '(^| )100 / 100'
inside student "cd /root/kit && ./labrig ci"
echo "ok: both kits came to a score in an empty $suite"
