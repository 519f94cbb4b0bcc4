#!/usr/bin/env bash
# Writes docs/architecture.svg, the picture of docs/architecture.md, from
# docs/architecture.dot by graphviz, which is installed by apt-get where it is missing.
# Says what it installs.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'picture: %s\n' "$*"; }
fail() { printf 'picture: %s\n' "$*" >&2; exit 1; }

. scripts/apt.sh
command -v dot >/dev/null || apt_install graphviz

# All of it or nothing: what is there stays when dot fails.
svg=$(dot -Tsvg docs/architecture.dot) || fail "dot failed on docs/architecture.dot"
printf '%s\n' "$svg" >docs/architecture.svg
say "wrote docs/architecture.svg"
