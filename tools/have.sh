#!/bin/bash
# have.sh FILE [TEXT]: fails with one sentence when FILE, which a verb of the Makefile needs, is not there.
. "$(dirname "$0")/common.sh"
[ -e "$1" ] || fail 2 "${2:-$1 is not there}" "this verb needs $1" "run make build first; if it stays away, this part does not exist yet"
