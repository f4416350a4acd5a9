#!/bin/sh
# setup.sh: what the kit needs beside itself, a C++ compiler. Installs g++ with apt-get where there is none; asks nothing.
set -eu
cd "$(dirname "$0")"
chmod +x labrig program/bin/* 2>/dev/null || true
if command -v g++ >/dev/null; then
  echo "ready: g++ is there"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "error: there is no g++" >&2
  echo "  why: your answers are compiled here, and this system has no apt-get to install a compiler with" >&2
  echo "  fix: install g++ 11 or newer with your system's package manager" >&2
  exit 4
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then as_root=sudo; fi
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends g++
echo "ready: g++ is installed"
