#!/usr/bin/env bash
# Installs what tests and figures of the page need: chromium by apt-get, and axe-core from npm into the cache, which
# looks for what keeps people from using a page. Says what it installs, and does nothing when all is there. Its last line
# is where axe-core is. `browser.sh chromium` leaves axe-core out.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
AXE=4.14.1

say() { printf 'browser: %s\n' "$*" >&2; }
fail() { printf 'browser: %s\n' "$*" >&2; exit 1; }
. scripts/apt.sh
. scripts/npm.sh

command -v chromium >/dev/null || apt_install chromium
[[ ${1:-} != chromium ]] || exit 0
axe=$CACHE/axe-core-$AXE
if [[ ! -e $axe/axe.min.js ]]; then
    say "fetching axe-core $AXE into $axe"
    fetched=$(mktemp -d)
    npm_package axe-core@$AXE "$fetched"
    mkdir -p "$axe"
    mv "$fetched/axe.min.js" "$axe/"
    rm -rf "$fetched"
fi
echo "$axe/axe.min.js"
