#!/usr/bin/env bash
# Measures the figures that docs/STATUS.md lists into out/bench.jsonl and prints
# them as a table (package bench). PART runs one part only: micro, plan,
# idle, rebind, start, overhead or demo.
set -euo pipefail
cd "$(dirname "$0")/.."

export PACER_BENCH_LOG=$PWD/out/bench.jsonl
mkdir -p out
[[ -n ${PART:-} ]] || rm -f "$PACER_BENCH_LOG"
"${GO:-go}" test -count 1 -timeout 90m -run "^TestFigures\$/${PART:-.*}" -v ./bench
