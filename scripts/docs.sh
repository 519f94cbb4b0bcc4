#!/usr/bin/env bash
# Makes the site of docs/ in out/site (mkdocs.yml), by a mkdocs with its theme in a virtual environment in the cache. It
# installs that where it is missing and says so; files whose hashes are not those of scripts/requirements are refused.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
list=scripts/requirements/mkdocs.txt
venv=$CACHE/venv-mkdocs-$(sha256sum "$list" | cut -c1-12)

say() { printf 'docs: %s\n' "$*"; }
fail() { printf 'docs: %s\n' "$*" >&2; exit 1; }
. scripts/apt.sh

if [[ ! -e $venv/.made-by-pacer ]]; then
    rm -rf "$venv" # Of an installation that was interrupted: the name is this script's.
    command -v python3 >/dev/null || apt_install python3
    python3 -c 'import venv, ensurepip' 2>/dev/null || apt_install python3-venv
    say "installing mkdocs into $venv by pip (about 15 MB to fetch)"
    mkdir -p "$CACHE"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$list"
    touch "$venv/.made-by-pacer"
fi
NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --quiet --strict
say "the site is out/site/index.html"
