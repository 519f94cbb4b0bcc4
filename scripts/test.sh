#!/usr/bin/env bash
# go vet and every Go test, beside them the workloads' own by Maven; the runs of real
# Spark come last, with the machine to themselves: all of them on the newest Spark, and on the
# oldest (OLDEST) a run without and one with a deadline. Ends with the line "N passed, N failed",
# Scala's tests included.
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
E2E=${E2E:-github.com/sparkpacer/pacer/e2e}

mkdir -p out
rm -f out/workloads.rc
{ scripts/jar.sh workloads --test >out/workloads.log 2>&1; echo $? >out/workloads.rc; } &
# The group below is another process, so it cannot use wait.
workloads_ended() { until [[ -s out/workloads.rc ]]; do sleep 0.2; done; }

"$GO" vet ./... || { echo "test: go vet found faults"; workloads_ended; exit 1; }
packages=$("$GO" list ./... | grep -vx "$E2E")
{
    failed=0
    "$GO" test -json -timeout 10m $packages || failed=1
    workloads_ended
    if [[ $(<out/workloads.rc) != 0 ]]; then
        cat out/workloads.log
        failed=1
    fi
    if [[ -d e2e ]]; then
        "$GO" test -json -timeout 30m -count 1 "$E2E" || failed=1
    fi
    if [[ -d e2e && -n ${OLDEST:-} ]]; then
        scripts/on-spark.sh "$OLDEST" "$GO" test -json -short -timeout 5m -count 1 -run '^TestDeadlineStory$/^paced$' "$E2E" || failed=1
    fi
    echo "the tests took $(($(date +%s) - ${SET_UP:-$(date +%s)} )) s after set-up"
    exit $failed
} 2>&1 | "$GO" run ./internal/tally spark/target/surefire-reports spark/workloads/target/surefire-reports
