#!/usr/bin/env bash
# Measures the figures that docs/STATUS.md lists into out/bench.jsonl and prints
# them as a table (package bench). PART runs one part only: micro, docker, plan,
# idle, crowd, rebind, start, tail, overhead, demo, sim, speed or scale.
#   bench.sh scale  measure what needs no Spark: the planner at scale, the speed of
#       simulator and control laws. Its figures are added to those of earlier runs.
#   bench.sh deadlines [OPTION]...  measure deadlines instead: each workload of
#       spark/workloads on stock Spark, then under Pacer with that time as its
#       deadline and more. Options: -only NAMES (of the eight workloads, or
#       group-by-zipf-1, -2, -3), -law NAMES (values of node.law), -slack PER CENTS
#       (0,20,40), -reps N, -slice (the size of 15 s), -set KEY=VALUE (of pacer up).
#       Its figures are added to those of earlier runs.
set -euo pipefail
cd "$(dirname "$0")/.."

export PACER_BENCH_LOG=$PWD/out/bench.jsonl
mkdir -p out
if [[ ${1:-} == deadlines ]]; then
    shift
    exec "${GO:-go}" test -count 1 -timeout 8h -run '^TestDeadlines$' -v ./bench -args -- "$@"
fi
if [[ ${1:-} == scale ]]; then
    export PART=scale
    exec "${GO:-go}" test -count 1 -timeout 60m -run '^TestFigures$/^(scale|speed)$' -v ./bench
fi
[[ -n ${PART:-} ]] || rm -f "$PACER_BENCH_LOG"
"${GO:-go}" test -count 1 -timeout 90m -run "^TestFigures\$/${PART:-.*}" -v ./bench
