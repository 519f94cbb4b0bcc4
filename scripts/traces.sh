#!/usr/bin/env bash
# Fetches fragments of the traces of Google and Yahoo that a public repository has, for
# `pacer simulate peacock --trace FILE`. They are not part of this one: 8 MB, whose terms are their owner's.
# Usage: scripts/traces.sh DIR
set -euo pipefail

fail() { printf 'traces: %s\n' "$*" >&2; exit 1; }

[ $# -eq 1 ] || fail "want a directory"
mkdir -p "$1"
from=https://raw.githubusercontent.com/meghanat/megha_simulator/f4fdaf42779a2c3e2b2c5af46c67c427b73a7908/traces/input
while read -r sum name; do
  to=$1/$name
  [ -e "$to" ] || curl -fsSL -o "$to.part" "$from/$name" || fail "$from/$name cannot be fetched"
  [ -e "$to" ] || mv "$to.part" "$to"
  printf '%s  %s\n' "$sum" "$to" | sha256sum --check --quiet || fail "$to is not the file that the documents have numbers of"
  printf 'traces: %s\n' "$to"
done <<'SUMS'
a2c2d3668d8f087b7ed0f0714ca9c1690e3c7087c83911225756df9521d9a222 GOOG_subtrace.tr
0f4775615b614756a17e94c34da52077d56ba93283f3f9907e415d9c0046788d YH1_sub.tr
d0cd6d2ebf4eb8d05bff62316c750aa364c6b957d2a4afef4f696f32cc451912 YH2_sub.tr
SUMS
