#!/bin/bash
# setup.sh [--test [--full]] [--dev]: installs with apt-get what labrig needs and is not there yet, on Debian 12 and Ubuntu 24.04.
# Does nothing when all is there. --test adds clang, for the sanitizers, the fuzzers and the comparison of compilers, programs that
# look at what labrig writes, the shells that it has completions for, and node, npm and Chromium for the browser tests, and goes on
# where they cannot be had; --full also debootstrap, for kits in an empty system; --dev what only `make format` and `make lint` need.
# Asks nothing; without root it prints the command to run and exits with 4. CUDA is not installed: labrig builds and grades without it.
. "$(dirname "$0")/common.sh"

packages=(g++ cmake ninja-build pkg-config libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libfmt-dev libssl-dev
  zlib1g-dev libelf-dev libopenblas-dev libkainjow-mustache-dev libmd4c-dev libmd4c-html0-dev libvalijson-dev libgtest-dev libgmock-dev
  libbenchmark-dev libminizip-dev)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "setup: this system has no apt-get; CMake names each library that is missing"
  exit 0
fi

# The one difference between the two systems: Debian 12's default Boost is older than 1.81, which labrig needs.
. /etc/os-release
case "${ID:-}-${VERSION_ID:-}" in
  debian-12) packages+=(libboost1.81-dev) ;;
  *) packages+=(libboost-dev) ;;
esac
if [[ " $* " == *" --dev "* ]]; then
  packages+=(clang-format-19 clang-tidy-19 ccache)
fi

wanted=()  # nice to have
if [[ " $* " == *" --test "* ]]; then
  wanted+=(clang-19 libclang-rt-19-dev python3 python3-yaml libxml2-utils cmark-gfm unzip groff-base zsh fish)
  # Node may have come from elsewhere, and then brings its npm along.
  command -v node >/dev/null || wanted+=(nodejs)
  command -v npm >/dev/null || wanted+=(npm)
  # Ubuntu's package of this name is a pointer to another store and does not work in a container.
  [ "${ID:-}" != debian ] || wanted+=(chromium)
fi
[[ " $* " != *" --full "* ]] || wanted+=(debootstrap)

# missing PACKAGE...: those that are not installed.
missing() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || printf '%s\n' "$package"
  done
}
mapfile -t needed < <(missing "${packages[@]}")
mapfile -t wanted < <(missing "${wanted[@]}")
if [ ${#needed[@]} -eq 0 ] && [ ${#wanted[@]} -eq 0 ]; then
  say "setup: everything is installed"
  exit 0
fi

install=(apt-get install -y --no-install-recommends)
if [ "$(id -u)" -eq 0 ]; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
elif sudo -n true 2>/dev/null; then
  as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
elif [ ${#needed[@]} -eq 0 ]; then
  say "setup: without root ${wanted[*]} are not installed; the tests that need them are left out"
  exit 0
else
  fail 4 "packages are missing: ${needed[*]}" "installing needs root, and this is user $(id -un)" \
    "sudo apt-get update && sudo ${install[*]} ${needed[*]}"
fi
say "setup: installing ${needed[*]} ${wanted[*]}"
"${as_root[@]}" apt-get update -q </dev/null || [ ${#needed[@]} -eq 0 ]
[ ${#needed[@]} -eq 0 ] || "${as_root[@]}" "${install[@]}" "${needed[@]}" </dev/null
# One by one: what cannot be had must not keep the others away.
for package in "${wanted[@]}"; do
  "${as_root[@]}" "${install[@]}" "$package" </dev/null ||
    say "setup: $package cannot be had; the tests that need it are left out"
done
say "setup: done"
