#!/usr/bin/env bash
# Prints a directory of the cache with the packages of scripts/requirements/$1.txt for the python3 in PATH, to be put into
# PYTHONPATH. It installs them there where they are missing, and says so; files with other hashes are refused.
set -euo pipefail
cd "$(dirname "$0")/.."

list=scripts/requirements/$1.txt
dir=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}/lib-$1-$(sha256sum "$list" | cut -c1-12)
mkdir -p "$(dirname "$dir")"
exec 9>"$dir.lock"
flock 9
if [[ ! -e $dir/.made-by-pacer ]]; then
    rm -rf "$dir" # Of an installation that was interrupted: the name is this script's.
    printf 'pylib: installing %s into %s by pip\n' "$1" "$dir" >&2
    python3 -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --target "$dir" -r "$list" >&2
    touch "$dir/.made-by-pacer"
fi
printf '%s\n' "$dir"
