#!/usr/bin/env bash
# Fetches from npm what the page consists of besides our own files, into web/page/lib. web/page/lib/files.txt says
# which file of which package each is, and its SHA-256; a file that has another one is refused. For another version
# change the list, and run `scripts/vendor.sh -rewrite`, which writes the hashes of what it has fetched.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'vendor: %s\n' "$*"; }
fail() { printf 'vendor: %s\n' "$*" >&2; exit 1; }
. scripts/apt.sh
. scripts/npm.sh

lib=web/page/lib
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
grep '^#' $lib/files.txt >"$at/files.txt"
while read -r package file kept sum; do
    [[ -d $at/$package ]] || npm_package "$package" "$at/$package"
    is=$(sha256sum "$at/$package/$file" | cut -d ' ' -f 1)
    [[ ${1:-} == -rewrite || $is == "$sum" ]] || fail "$file of $package is $is, not $sum"
    mkdir -p "$(dirname "$lib/$kept")"
    cp "$at/$package/$file" "$lib/$kept"
    printf '%s %s %s %s\n' "$package" "$file" "$kept" "$is" >>"$at/files.txt"
done < <(grep -v '^#' $lib/files.txt)
cp "$at/files.txt" $lib/files.txt
say "$lib is complete"
