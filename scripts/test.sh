#!/usr/bin/env bash
# What needs a machine, root and the newest Spark, each promise once, and the deadline
# story on the oldest Spark (OLDEST). Maven builds the jar and then tests it, beside the Go
# tests of the packages that need root or Docker. Once the jar is there an idle node controller
# makes the class-data archive, behind all else; after these tests the torture's slice runs.
# The stories of package e2e come last: those that need the machine alone, then the others,
# with the programs of test/e2e/field beside them. Ends with the line "N passed, N failed",
# Scala's tests included. out/*.log have what was said beside others.
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
E2E=${E2E:-github.com/sparkpacer/pacer/test/e2e}
# Packages of which make check skips tests (scripts/skips.txt), real Spark's left out.
machine='./infra/cgroup ./daemon ./infra/executor/... ./test/realenv'

PACER_TEST_MADE=$(mktemp -d) # Binaries and the archive, for all runs of real Spark.
export PACER_TEST_MADE
. scripts/beside.sh
trap 'end_all; rm -rf "$PACER_TEST_MADE"' EXIT
trap 'exit 143' INT TERM HUP

go_test() { "$GO" test -json -vet=off -count 1 "$@"; }
machine() {
    local failed=0
    go_test -p 4 -timeout 10m $machine || failed=1
    ended jar && go_test -timeout 5m ./test/guides || failed=1
    return $failed
}
scala() { ended jar && scripts/jar.sh --test; }
archive() { ended jar && go_test -timeout 20m -run '^TestClassDataArchive$' "$E2E"; }
slice() { # It holds a driver to seconds, beside the archive, which yields to all.
    ended scala
    ended machine
    ended jar && go_test -timeout 15m -run '^TestALostNode' ./test/torture
}
programs() {
    until [[ -e $PACER_TEST_MADE/beside ]]; do sleep 0.5; done # A story of e2e runs beside others.
    go_test -timeout 10m ./test/e2e/field
}
begin jar scripts/jar.sh
begin scala scala
begin machine machine
begin archive archive
begin slice slice
begin programs programs

tests() {
    local failed=0 name
    if ended jar; then
        go_test -timeout 10m ./spark || failed=1
    else
        cat out/jar.log
        failed=1
    fi
    for name in scala machine archive slice; do
        ended $name || failed=1
        cat out/$name.log
    done
    if ended jar; then
        if [[ -n ${OLDEST:-} ]]; then
            PACER_TEST_OLDEST=$(scripts/on-spark.sh "$OLDEST" env | grep -E '^(PATH|SPARK_HOME|PYSPARK_PYTHON|PYSPARK_DRIVER_PYTHON)=') || failed=1
            export PACER_TEST_OLDEST
        fi
        go_test -timeout 30m "$E2E" || failed=1
        mkdir -p "$PACER_TEST_MADE/beside" # Where no story has come so far.
        ended programs || failed=1
        cat out/programs.log
    fi
    echo "the tests took $(($(date +%s) - ${SET_UP:-$(date +%s)} )) s after set-up"
    return $failed
}
counted() { tests 2>&1 | "$GO" run ./test/tally -skips scripts/skips.txt -tier test ${CI:+-strict} spark/target/surefire-reports; }
attended counted
