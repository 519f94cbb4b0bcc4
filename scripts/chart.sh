#!/usr/bin/env bash
# deploy/kubernetes.yaml is deploy/chart as Helm renders it with the values as they are. Helm is made by the Go tool into the
# cache and is no dependency of the module (some minutes, once).
#   chart.sh render  writes it
#   chart.sh check   lints the chart, renders it with all values used, and fails where the file is another one
#   chart.sh helm    prints where Helm is
#   chart.sh sum     prints the digest of the chart that stands in its first line, which make check compares
set -euo pipefail
cd "$(dirname "$0")/.."

VERSION=v4.3.2
CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
helm=$CACHE/helm-$VERSION
[[ ${1:-} == sum || -x $helm ]] || {
    echo "chart: installing helm $VERSION to $helm" >&2
    bin=$(mktemp -d)
    (cd "$bin" && GOFLAGS='' GOBIN="$bin" "${GO:-go}" install "helm.sh/helm/v4/cmd/helm@$VERSION")
    mv "$bin/helm" "$helm"
    rmdir "$bin"
}
sum() { (cd deploy/chart && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f1); }
render() {
    echo "# Made by scripts/chart.sh of deploy/chart with the digest $(sum): change that."
    "$helm" template "${2:-pacer}" deploy/chart --namespace pacer "${@:3}" | sed "/^ *$/d"
}
case ${1:-} in
render) render >deploy/kubernetes.yaml.new && mv deploy/kubernetes.yaml.new deploy/kubernetes.yaml ;;
check)
    mkdir -p out
    "$helm" lint --strict deploy/chart
    diff deploy/kubernetes.yaml <(render) || { echo "chart: deploy/kubernetes.yaml is not what deploy/chart renders: scripts/chart.sh render" >&2; exit 1; }
    # All that values can say, and two releases beside each other: no object has the name of another one.
    render _ other --set config.log.level=debug,planner.tlsSecret=tls,planner.volume.emptyDir.sizeLimit=1Gi,planner.hosts[0]=10.0.0.1 \
        --set image.pullSecrets[0]=key,planner.service.clusterIP=10.0.0.1,node.planner=10.0.0.1:4222,node.http.port=4283 \
        --set node.seLinuxOptions.type=spc_t,node.nodeSelector.spark=yes,node.priorityClassName=high,planner.nodeSelector.a=b >out/chart-other.yaml
    names() { awk '/^kind:/ { kind = $2 } /^  name:/ && kind { print kind, $2; kind = "" }' "$1" | sort; }
    twice=$(comm -12 <(names deploy/kubernetes.yaml) <(names out/chart-other.yaml))
    [[ -z $twice ]] || { echo "chart: two releases both have $twice" >&2; exit 1; }
    ;;
helm) echo "$helm" ;;
sum) sum ;;
*) echo "usage: chart.sh render | check | helm | sum" >&2; exit 64 ;;
esac
