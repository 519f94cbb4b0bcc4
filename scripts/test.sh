#!/usr/bin/env bash
# go vet and every Go test; the runs of real Spark come last, with the machine to
# themselves: all of them on the newest Spark, and on the oldest (OLDEST) a run
# without and one with a deadline. Ends with the line "N passed, N failed", Scala's tests included.
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
E2E=${E2E:-github.com/sparkpacer/pacer/e2e}

"$GO" vet ./... || { echo "test: go vet found faults"; exit 1; }
packages=$("$GO" list ./... | grep -vx "$E2E")
{
    "$GO" test -json -timeout 10m $packages
    if [[ -d e2e ]]; then
        "$GO" test -json -timeout 30m -count 1 "$E2E"
    fi
    if [[ -d e2e && -n ${OLDEST:-} ]]; then
        scripts/on-spark.sh "$OLDEST" "$GO" test -json -short -timeout 5m -count 1 -run '^TestDeadlineStory$/^paced$' "$E2E"
    fi
} 2>&1 | "$GO" run ./internal/tally spark/target/surefire-reports spark/workloads/target/surefire-reports
