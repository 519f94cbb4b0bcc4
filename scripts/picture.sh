#!/usr/bin/env bash
# Writes docs/architecture.svg, the picture of docs/architecture.md, from
# docs/architecture.dot by graphviz, which is installed by apt-get where it is missing.
# Says what it installs.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'picture: %s\n' "$*"; }
fail() { printf 'picture: %s\n' "$*" >&2; exit 1; }

install_graphviz() {
    command -v apt-get >/dev/null || fail "graphviz is missing and there is no apt-get: install it by hand"
    local sudo=()
    if [[ $(id -u) -ne 0 ]]; then
        command -v sudo >/dev/null || fail "graphviz is missing: run 'apt-get install graphviz' as root"
        sudo=(sudo)
    fi
    say "installing Debian package graphviz by apt-get"
    "${sudo[@]}" apt-get update -qq || fail "apt-get update failed"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove --no-install-recommends -o Dpkg::Options::=--force-confold graphviz >/dev/null ||
        fail "apt-get install graphviz failed"
}
command -v dot >/dev/null || install_graphviz

# All of it or nothing: what is there stays when dot fails.
svg=$(dot -Tsvg docs/architecture.dot) || fail "dot failed on docs/architecture.dot"
printf '%s\n' "$svg" >docs/architecture.svg
say "wrote docs/architecture.svg"
