# Shared by the scripts of this folder; sourced, not run. Every script works from the project's root, prints what it does,
# and asks nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# say TEXT: a line that stands out in a long log.
say() { printf '== %s\n' "$*"; }

# fail CODE WHAT WHY FIX: the three sentences of every error; exit codes as of labrig itself (4: environment unfit).
fail() {
  printf 'error: %s\n  why: %s\n  fix: %s\n' "$2" "$3" "$4" >&2
  exit "$1"
}

jobs() { nproc 2>/dev/null || echo 2; }

# ccache is used where it is installed, and never needed. Without it, and in CI, where it would be empty, headers are precompiled.
launcher_options() {
  if [ -n "${CI:-}" ] || ! command -v ccache >/dev/null; then
    echo -DLABRIG_PCH=ON
    return 0
  fi
  printf '%s\n' -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
}

# configure PRESET [OPTION...]. `make … CUDA=OFF` (or ON) decides about the cuda backend of the release preset. CI has no card: it
# compiles for one architecture in place of three, and only to PTX.
configure() {
  local preset=$1 options
  shift
  mapfile -t options < <(launcher_options)
  [ "$preset" = release ] && [ -n "${CUDA:-}" ] && options+=("-DLABRIG_CUDA=$CUDA")
  [ "$preset" = release ] && [ -n "${CI:-}" ] && options+=("-DCMAKE_CUDA_ARCHITECTURES=90-virtual")
  cmake --preset "$preset" --log-level=NOTICE --no-warn-unused-cli "${options[@]}" "$@"
}
