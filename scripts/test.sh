#!/usr/bin/env bash
# What needs a machine, root and the newest Spark, each promise once, and the deadline
# story on the oldest Spark (OLDEST). Maven builds and tests the jar beside the Go tests
# of the packages that need root or Docker; once the jar is there an idle node controller
# makes the class-data archive, behind all else. The runs of real Spark come last, with
# the machine to themselves. Ends with the line "N passed, N failed", Scala's tests
# included. out/jar.log and archive.log have what those said.
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
E2E=${E2E:-github.com/sparkpacer/pacer/e2e}
# Packages of which make check skips tests (scripts/skips.txt), real Spark's left out.
machine='./cgroup ./executor/... ./internal/realenv'
carriers='./spark ./cli ./daemon' # They carry the jar, and have to wait for it.

PACER_TEST_MADE=$(mktemp -d) # Binaries and the archive, for all runs of real Spark.
export PACER_TEST_MADE
. scripts/beside.sh
trap 'end_all; rm -rf "$PACER_TEST_MADE"' EXIT
trap 'exit 143' INT TERM HUP

begin jar scripts/jar.sh --test
archive() { ended jar && "$GO" test -json -vet=off -timeout 20m -count 1 -run '^TestClassDataArchive$' "$E2E"; }
begin archive archive

tests() {
    local failed=0
    "$GO" test -p 4 -json -vet=off -count 1 -timeout 10m $machine || failed=1
    if ended jar; then
        "$GO" test -p 4 -json -vet=off -count 1 -timeout 10m $carriers || failed=1
    else
        cat out/jar.log
        failed=1
    fi
    ended archive || failed=1
    cat out/archive.log
    if ended jar; then
        if [[ -n ${OLDEST:-} ]]; then
            PACER_TEST_OLDEST=$(scripts/on-spark.sh "$OLDEST" env | grep -E '^(PATH|SPARK_HOME|PYSPARK_PYTHON|PYSPARK_DRIVER_PYTHON)=') || failed=1
            export PACER_TEST_OLDEST
        fi
        "$GO" test -json -vet=off -timeout 30m -count 1 "$E2E" || failed=1
        "$GO" test -json -vet=off -timeout 10m -count 1 ./e2e/field || failed=1
        "$GO" test -json -vet=off -timeout 5m -count 1 -run '^TestALostNode' ./torture || failed=1
    fi
    echo "the tests took $(($(date +%s) - ${SET_UP:-$(date +%s)} )) s after set-up"
    return $failed
}
counted() { tests 2>&1 | "$GO" run ./internal/tally -skips scripts/skips.txt -tier test ${CI:+-strict} spark/target/surefire-reports; }
attended counted
