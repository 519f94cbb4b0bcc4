#!/usr/bin/env bash
# go vet and every Go test. Beside those that run no real Spark, Maven builds and tests
# the jar and then the workloads, and once the jar is there an idle node controller
# makes the class-data archive, behind all else. The runs of real Spark come last, with
# the machine to themselves, one test of them on the oldest Spark (OLDEST). Ends with the
# line "N passed, N failed", Scala's tests included. out/jar.log, workloads.log and
# archive.log have what those said.
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
E2E=${E2E:-github.com/sparkpacer/pacer/e2e}

PACER_TEST_MADE=$(mktemp -d) # Binaries and the archive, for all runs of real Spark.
export PACER_TEST_MADE
trap 'rm -rf "$PACER_TEST_MADE"' EXIT

# begin runs a command beside all else, ended waits for it and fails as it did: by
# files, since those who wait are other processes.
mkdir -p out
begin() { # name command...
    local name=$1
    shift
    rm -f "out/$name.rc"
    { "$@" >"out/$name.log" 2>&1; echo $? >"out/$name.rc"; } &
}
ended() {
    until [[ -s out/$1.rc ]]; do sleep 0.2; done
    [[ $(<"out/$1.rc") == 0 ]]
}
begin jar scripts/jar.sh --test
workloads() { ended jar && scripts/jar.sh workloads --test; }
begin workloads workloads
archive() { ended jar && "$GO" test -json -vet=off -timeout 20m -count 1 -run '^TestClassDataArchive$' "$E2E"; }
begin archive archive

# The packages that carry the jar have to wait for it.
carriers='/pacer/spark( |$)'
packages=$("$GO" list -e -f '{{.ImportPath}} {{join .Deps " "}}' ./...)
first=$(grep -Ev "$carriers" <<<"$packages" | cut -d' ' -f1)
second=$(grep -E "$carriers" <<<"$packages" | cut -d' ' -f1)
check() { # packages
    "$GO" vet $1 || { echo "test: go vet found faults"; return 1; }
    # All that go test would vet has been.
    "$GO" test -json -vet=off -timeout 10m $(grep -vx "$E2E" <<<"$1")
}
{
    failed=0
    check "$first" || failed=1
    if ended jar; then
        check "$second" || failed=1
    fi
    for part in jar workloads; do
        ended $part || { cat out/$part.log; failed=1; }
    done
    ended archive || failed=1
    cat out/archive.log
    if ended jar; then
        if [[ -n ${OLDEST:-} ]]; then
            PACER_TEST_OLDEST=$(scripts/on-spark.sh "$OLDEST" env | grep -E '^(PATH|SPARK_HOME|PYSPARK_PYTHON|PYSPARK_DRIVER_PYTHON)=') || failed=1
            export PACER_TEST_OLDEST
        fi
        "$GO" test -json -vet=off -timeout 30m -count 1 "$E2E" || failed=1
    fi
    echo "the tests took $(($(date +%s) - ${SET_UP:-$(date +%s)} )) s after set-up"
    exit $failed
} 2>&1 | "$GO" run ./internal/tally spark/target/surefire-reports spark/workloads/target/surefire-reports
