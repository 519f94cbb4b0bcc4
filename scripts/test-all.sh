#!/usr/bin/env bash
# What takes long, for those who have changed what it tests: draws at random for properties,
# worlds of the simulator and decoders (15 minutes), cgroup v2 in a virtual machine, the tests
# of the workloads' Scala code, rules for alerts by Prometheus's engine, stories with executors
# in containers on the newest Spark ($1), those there that make test leaves to tests without
# Spark, stories with processes on others (the other arguments; the last one is the oldest, on
# which make test runs the deadline story), those on a real Kubernetes, and set-up in a bare Debian root file system. Ends
# with the line "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
E2E=${E2E:-github.com/sparkpacer/pacer/test/e2e}
newest=$1
shift
others=("$@")
contained='^Test(DeadlineStory|DriverOnNode(BesidePrograms)?|Entrances|PythonWorkers|ExecutorCrash|DriverGone|UpEndsCleanly|ModeOff)$'
told='^Test(Trouble|Plant|CoresAreReserved|ExecutorsOfOneCore|PythonWorkers|SparkSettings|WorkDirectoryFull|SubmitDetached|PythonException|StreamingRunsUnpaced|GroupsOfANotebook|AKernelOfJupyter|ASessionOfDbt|ServersOfSQL|ADriverOfALostPlanner|TheSecondOneWaits|NightsThatDiffer|ALogIsSignedAsItsRun|Heartbeats|DeadlineInYARNsGroups|DriverOnYARN|DriverInAPod|DriverOnNode(Signals|Restarts|BesidePrograms)?|DeadlineOnKubernetes|ObjectStore)$'
stories='ALogIsSignedAsItsRun|Entrances|Heartbeats|MemoryMoves|PythonWorkers|SparkSettings|AChangedReport'

. scripts/beside.sh
trap 'end_all' EXIT
trap 'exit 143' INT TERM HUP

# step NAME COMMAND... counts a command as a test.
step() {
    local name=$1 began=$SECONDS action=pass
    shift
    "$@" || action=fail
    printf '{"Action":"%s","Package":"scripts","Test":"%s","Elapsed":%d}\n' "$action" "$name" $((SECONDS - began))
}
export PACER_TEST_ALL=1
tests() {
    local version run
    step properties make -s properties ARGS=-rapid.checks=500
    step chaos make -s chaos ARGS="-trials 3000 -limit 5m"
    step fuzz make -s fuzz ARGS="-time 10s -file out/fuzz.jsonl"
    step vm scripts/vm.sh
    "$GO" test -json -vet=off -count 1 -timeout 30m ./test/e2e/vm
    (cd test/alerts && "$GO" test -json -vet=off -count 1 -timeout 30m .) # Fetches its modules, some 40 MB.
    step chart scripts/chart.sh check
    step workloads scripts/jar.sh workloads --test
    step jar scripts/jar.sh
    step packages scripts/packages.sh check
    step units scripts/units-vm.sh
    for run in "$contained" '^TestTrouble$/^restarts$'; do
        PACER_NODE_RUNTIME=docker scripts/on-spark.sh "$newest" "$GO" test -json -vet=off -count 1 -timeout 30m -run "$run" "$E2E"
    done
    scripts/on-spark.sh "$newest" "$GO" test -json -vet=off -count 1 -timeout 30m -run "$told" "$E2E"
    scripts/on-spark.sh "$newest" "$GO" test -json -vet=off -count 1 -timeout 30m -p 1 ./test/e2e/field ./test/guides ./test/e2e/airflow
    scripts/on-spark.sh "$newest" "$GO" test -json -vet=off -count 1 -timeout 90m ./test/kubernetes # Builds a Kubernetes once, in 10 minutes.
    for version in "${others[@]}"; do
        run=$stories
        if [[ $version == "${others[-1]}" ]]; then run+='|DeadlineOnYARN|ObjectStore'; else run+='|DeadlineStory'; fi
        scripts/on-spark.sh "$version" "$GO" test -json -vet=off -count 1 -timeout 30m -run "^Test($run)\$" "$E2E"
    done
    step bare scripts/bare.sh
    echo "the tests took $(($(date +%s) - ${SET_UP:-$(date +%s)} )) s after set-up"
}
counted() { tests 2>&1 | "$GO" run ./test/tally -skips scripts/skips.txt -tier all ${CI:+-strict} spark/workloads/target/surefire-reports; }
attended counted
