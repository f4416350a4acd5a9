#!/bin/bash
# build.sh PRESET [TARGET...]: configures and builds one preset (CMakePresets.json); everything when no target is named.
. "$(dirname "$0")/common.sh"
preset=$1
shift
say "build: $preset"
configure "$preset"
cmake --build --preset "$preset" -j "$(jobs)" ${1:+--target "$@"}
