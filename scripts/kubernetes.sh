#!/usr/bin/env bash
# A Kubernetes for tests: fabric8's mock of the API, and in a kubelet's place what starts the executors of pods
# as processes in groups of cgroup v1 (test/realenv/kubernetes/Cluster.java). No Kubernetes is installed.
#   kubernetes.sh fetch    fetch into the cache what the wheel of pyspark lacks of it (1 MB), by curl
#   kubernetes.sh run DIR  run it with all its files in DIR, say "ready", and end it with its pods on SIGTERM
#   kubernetes.sh real ... a real Kubernetes of one node in its place (scripts/kubernetes-real.sh)
# The mock is of the version of fabric8's client in the wheel of pyspark 4.3.0, whose executors it starts.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
KEPT=$CACHE/kubernetes-7.6.1

say() { printf 'kubernetes: %s\n' "$*"; }
fail() { printf 'kubernetes: %s\n' "$*" >&2; exit 1; }
. scripts/maven.sh

fetch() {
    fetch_jars "$KEPT" <<'JARS'
2c76a300c19e2d359a1b465d3cbbc90428470a74822282f05830185faa346fb2 io/fabric8/kubernetes-server-mock/7.6.1/kubernetes-server-mock-7.6.1.jar
e160c151c605f1be87c60c3d93711e2a4621ce0491ce02a437ccf57fa83d266d io/fabric8/mockwebserver/7.6.1/mockwebserver-7.6.1.jar
175fc6af72dbecae11019f562e40892094d4d3c1172c40315f855593cb562067 io/vertx/vertx-bridge-common/4.5.26/vertx-bridge-common-4.5.26.jar
2f01d04fd07a7b08d63f3680ff9d05c4f7b4880f1bae10a8d2f30c6c2f407687 io/vertx/vertx-web/4.5.26/vertx-web-4.5.26.jar
JARS
}

case ${1:-} in
fetch) fetch ;;
real) exec scripts/kubernetes-real.sh "${@:2}" ;;
run)
    fetch
    spark=$(scripts/spark-home.sh "$CACHE/venv-pyspark-4.3.0")
    exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$KEPT/*:$spark/jars/*" \
        test/realenv/kubernetes/Cluster.java "${2:?run needs a directory}" "$spark"
    ;;
*) echo "usage: kubernetes.sh fetch | run DIR | real ..." >&2; exit 64 ;;
esac
