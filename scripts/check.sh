#!/usr/bin/env bash
# go vet and every test that needs neither Spark nor a JVM, Docker, a virtual machine or
# root, the laws of the house among them. Ends with the line "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
E2E=${E2E:-github.com/sparkpacer/pacer/test/e2e}
# Simulations allocate much and keep little: a fifth of what they take is the collector's.
export GOGC=${GOGC:-400} GOMEMLIMIT=${GOMEMLIMIT:-1GiB}
scripts/modules.sh
began=$(date +%s)
{
    failed=0
    "$GO" vet ./... || { echo "check: go vet found faults"; failed=1; }
    # All that go test would vet has been. Packages that wait leave the cores to others.
    "$GO" test -p 4 -json -vet=off -count 1 -short -timeout 5m $("$GO" list ./... | grep -vx "$E2E") || failed=1
    echo "the checks took $(($(date +%s) - began)) s"
    exit $failed
} 2>&1 | "$GO" run ./test/tally -skips scripts/skips.txt -tier check ${CI:+-strict}
