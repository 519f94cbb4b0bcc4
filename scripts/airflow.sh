#!/usr/bin/env bash
# Prints the Python of a virtual environment in the cache that has Airflow and its provider for Spark. It installs that
# where it is missing and says so; files whose hashes are not those of scripts/requirements are refused.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
list=scripts/requirements/airflow.txt
venv=$CACHE/venv-airflow-$(sha256sum "$list" | cut -c1-12)

say() { printf 'airflow: %s\n' "$*" >&2; }
fail() { printf 'airflow: %s\n' "$*" >&2; exit 1; }
. scripts/apt.sh

if [[ ! -e $venv/.made-by-pacer ]]; then
    rm -rf "$venv" # Of an installation that was interrupted: the name is this script's.
    command -v python3 >/dev/null || apt_install python3 >&2
    python3 -c 'import venv, ensurepip' 2>/dev/null || apt_install python3-venv >&2
    say "installing Airflow into $venv by pip (about 120 MB to fetch)"
    mkdir -p "$CACHE"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --no-deps -r "$list" >&2
    touch "$venv/.made-by-pacer"
fi
printf '%s\n' "$venv/bin/python3"
