#!/usr/bin/env bash
# A real Kubernetes of one node, from source (scripts/kubernetes.sh real ...). Go modules are built and kept in the cache
# by version: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kube-proxy, kubectl and CoreDNS.
# Containerd, runc and the plugins of networks are Debian's. Images are made of this machine's files; none is pulled.
#   build        build what is not in the cache yet (some ten minutes of two cores)
#   up DIR       start it with its files in DIR, and return when its node is ready
#   down DIR     end it, with all that it has started
#   run DIR      start it, say "ready", and end it on SIGTERM
#   enter DIR COMMAND...
#                run a command in the node's network, with its names
# The node has namespaces of its own for processes, mounts and the network: what it mounts, the bridge and the
# rules of its network go with its last process. What kubelets set of the kernel is set in files in their place. Only the
# groups kubepods are the machine's, as for any kubelet, and down removes them.
# DIR/kubeconfig is an administrator's, DIR/kubectl and DIR/helm are these with it. DIR/share is the same directory in the pods that
# have it as a host path. What is run by enter finds services by their names, as a pod does.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
GO=${GO:-go}
PARTS=test/kubernetes/cluster
NODE=10.213.9.2 PODS=10.244.77 SERVICES=10.96.0

say() { printf 'kubernetes: %s\n' "$*"; }
fail() { printf 'kubernetes: %s\n' "$*" >&2; exit 1; }
. scripts/apt.sh

release() { sed -n "s,^[[:space:]]*$1 \(v[0-9.]*\)$,\1,p" $PARTS/go.mod | head -n 1; }
VERSION=$(release k8s.io/kubernetes)
KEPT=$CACHE/kubernetes-$VERSION-$(cat $PARTS/go.mod $PARTS/*/*.go | sha256sum | cut -c1-12)
SPARK_IMAGE=docker.io/local/spark:4.3.0
PAUSE_IMAGE=docker.io/local/pause:1

go_build() { (cd $PARTS && "$GO" build -mod=readonly -trimpath -o "$KEPT/bin/" "$@") || fail "go build has failed"; }
build() {
    [[ ! -e $KEPT/built ]] || return 0
    local began=$SECONDS of minor part kube=k8s.io/kubernetes/cmd at=k8s.io/component-base/version
    say "building Kubernetes $VERSION and etcd $(release go.etcd.io/etcd/server/v3) (about ten minutes)"
    minor=${VERSION#v*.} minor=${minor%%.*}
    of="-s -w -X $at.gitVersion=$VERSION -X $at.gitMajor=1 -X $at.gitMinor=$minor -X $at.gitTreeState=clean"
    mkdir -p "$KEPT/bin"
    export CGO_ENABLED=0
    # The largest first: what others use of it is compiled once.
    for part in apiserver controller-manager scheduler proxy; do
        go_build -ldflags "$of" $kube/kube-$part
    done
    go_build -ldflags "$of" $kube/kubelet $kube/kubectl
    go_build -ldflags '-s -w' -o "$KEPT/bin/etcd" go.etcd.io/etcd/server/v3
    go_build -ldflags '-s -w' ./dns ./pause
    unset CGO_ENABLED
    echo $((SECONDS - began)) >"$KEPT/built"
}

packages() {
    local missing=()
    command -v containerd >/dev/null && command -v ctr >/dev/null || missing+=(containerd)
    command -v runc >/dev/null || missing+=(runc)
    command -v iptables >/dev/null || missing+=(iptables)
    command -v ip >/dev/null || missing+=(iproute2)
    command -v tini >/dev/null || missing+=(tini)
    command -v openssl >/dev/null || missing+=(openssl)
    [[ -x /usr/lib/cni/bridge ]] || missing+=(containernetworking-plugins)
    [[ ${#missing[@]} -eq 0 ]] || apt_install "${missing[@]}"
}

# images makes those that are not kept yet: of what holds a pod, and of Spark.
images() {
    local spark python jdk work=$DIR/images
    if [[ ! -e $KEPT/pause.tar ]]; then
        printf '%s\t/pause\n' "$KEPT/bin/pause" >"$work/files"
        python3 $PARTS/image.py "$KEPT/pause.tar" $PAUSE_IMAGE '{"Entrypoint":["/pause"]}' "$work/files"
    fi
    spark=$(scripts/spark-home.sh "$CACHE/venv-pyspark-4.3.0")
    SPARK_TAR=$KEPT/spark-$({ cat $PARTS/image.py $PARTS/spark-pod.sh; declare -f images; echo "$spark"; } | sha256sum | cut -c1-12).tar
    [[ ! -e $SPARK_TAR ]] || return 0
    say "making an image of Spark"
    rm -f "$KEPT"/spark-*
    jdk=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
    python=$("$CACHE/venv-pyspark-4.3.0/bin/python3" -c 'import sys; print(sys.base_prefix)')
    printf 'root:x:0:0:root:/root:/bin/bash\nspark:x:185:0:spark:/opt/spark/work-dir:/bin/bash\n' >"$work/passwd"
    printf 'root:x:0:\n' >"$work/group"
    {
        for name in bash cat chmod cp dirname basename env find grep id ls mkdir mv ps readlink rm sed sleep sort tini tr uname; do
            printf '%s\t/usr/bin/%s\n' "$(readlink -f "$(command -v $name)")" $name
        done
        printf '@%s\t%s\n' usr/bin /bin bash /usr/bin/sh /opt/python/bin/python3 /usr/bin/python3 '' /tmp '' /opt/spark/work-dir
        printf '%s\t%s\n' "$work/passwd" /etc/passwd "$work/group" /etc/group /lib64/ld-linux-x86-64.so.2 /lib64/ld-linux-x86-64.so.2 \
            "$jdk" /opt/java "$spark/bin" /opt/spark/bin "$spark/jars" /opt/spark/jars "$spark/python" /opt/spark/python \
            "$(readlink -f "$python/bin/python3")" /opt/python/bin/python3 "$PWD/$PARTS/spark-pod.sh" /opt/spark-pod.sh
        for path in "$python"/lib/libpython3*.so.* "$python"/lib/python3.*; do
            printf '%s\t/opt/python/lib/%s\n' "$path" "${path##*/}"
        done
    } >"$work/files"
    python3 $PARTS/image.py "$SPARK_TAR" $SPARK_IMAGE '{"Entrypoint":["/opt/spark-pod.sh"],"User":"185","WorkingDir":"/opt/spark/work-dir",
        "Env":["PATH=/opt/java/bin:/usr/bin","SPARK_HOME=/opt/spark","JAVA_HOME=/opt/java","LANG=C.UTF-8","LD_LIBRARY_PATH=/opt/python/lib"]}' "$work/files"
}

# init is the first process of the node's namespaces, as this machine sees it.
init() {
    local outside
    outside=$(cat "$DIR/pid" 2>/dev/null) && grep -qz "$DIR" "/proc/$outside/cmdline" 2>/dev/null || return 1
    outside=$(cat "/proc/$outside/task/$outside/children" 2>/dev/null) && [[ -n $outside ]] && echo $outside
}
enter() {
    init >/dev/null || fail "none runs in $DIR"
    "$DIR/enter" "$@"
}
groups() { compgen -G '/sys/fs/cgroup/*/kubepods' || compgen -G '/sys/fs/cgroup/kubepods*'; }

up() {
    local began of i
    packages
    build
    ! groups >/dev/null || fail "a kubelet has groups on this machine: $(groups | head -n 1)"
    mkdir -p "$DIR/images"
    OUT=$DIR/images scripts/packages.sh image amd64 >"$DIR/image.log" 2>&1 || fail "no image of Pacer: $(cat "$DIR/image.log")"
    images
    began=$(date +%s%N)
    configure
    (
        for fd in /proc/self/fd/*; do # The caller's locks and pipes are not its to hold.
            [[ ${fd##*/} -le 2 ]] || eval "exec ${fd##*/}>&-"
        done
        exec setsid unshare --mount --propagation private --net --pid --fork --mount-proc --kill-child \
            "$PWD/scripts/kubernetes-real.sh" inside "$DIR" "$SPARK_TAR" >"$DIR/log/node" 2>&1 </dev/null
    ) &
    echo $! >"$DIR/pid"
    for i in $(seq 100); do
        ! of=$(init) || break
        sleep 0.05
    done
    echo "$of" >"$DIR/init"
    for i in $(seq 3000); do
        [[ ! -e $DIR/ready ]] || break
        init >/dev/null || fail "the node has ended: $(tail -n 3 "$DIR/log/node")"
        sleep 0.1
    done
    [[ -e $DIR/ready ]] || fail "the node is not ready after 300 s, see $DIR/log"
    printf 'k8s.build_s %s\nk8s.ready_s %s\n' "$(<"$KEPT/built")" "$(awk -v ns=$(($(date +%s%N) - began)) 'BEGIN { printf "%.1f", ns / 1e9 }')"
}

configure() {
    mkdir -p "$DIR"/{etcd,certs,cni,log,containerd,kubelet,share}
    chmod 1777 "$DIR/share"
    rm -f "$DIR/ready"
    openssl genrsa -out "$DIR/accounts.key" 2048 2>/dev/null
    openssl rsa -in "$DIR/accounts.key" -pubout -out "$DIR/accounts.pub" 2>/dev/null
    local token name program
    token=$(openssl rand -hex 16)
    (
        umask 077
        echo "$token,admin,1,\"system:masters\"" >"$DIR/tokens.csv"
        cat >"$DIR/kubeconfig" <<K
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://$NODE:6443", certificate-authority: "$DIR/certs/apiserver.crt"}}]
users: [{name: u, user: {token: "$token"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
K
    )
    for name in kubectl helm; do
        program=$KEPT/bin/$name
        [[ $name != helm ]] || program=$(scripts/chart.sh helm)
        printf '#!/bin/sh\nexec "%s" "%s" --kubeconfig "%s" "$@"\n' "$DIR/enter" "$program" "$DIR/kubeconfig" >"$DIR/$name"
    done
    # In the network of the node, and with its names: all else is this machine's, processes among it.
    cat >"$DIR/enter" <<K
#!/bin/sh
exec nsenter --target "\$(cat "$DIR/init")" --net -- unshare --mount --propagation private \\
    sh -c 'mount --bind "\$0" /etc/resolv.conf && exec "\$@"' "$DIR/resolv.conf" "\$@"
K
    chmod +x "$DIR"/{enter,kubectl,helm}
    printf 'nameserver %s\nsearch default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n' $NODE >"$DIR/resolv.conf"
    # A kubelet of this machine takes 100 MiB and 1 % of its disk for too little, not a tenth.
    cat >"$DIR/kubelet.yaml" <<K
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
failSwapOn: false
enforceNodeAllocatable: []
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
clusterDNS: [$NODE]
clusterDomain: cluster.local
resolvConf: ""
oomScoreAdj: 0
localStorageCapacityIsolation: false
K
    cat >"$DIR/proxy.yaml" <<K
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: $PODS.0/24
clientConnection: {kubeconfig: "$DIR/kubeconfig"}
hostnameOverride: node-a
oomScoreAdj: 0
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
K
    cat >"$DIR/containerd.toml" <<K
version = 2
root = "$DIR/containerd"
state = "/run/containerd"
[plugins."io.containerd.internal.v1.opt"]
  path = "$DIR/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$PAUSE_IMAGE"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$DIR/cni"
K
    cat >"$DIR/cni/10-bridge.conflist" <<K
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
 {"type": "bridge", "bridge": "pods0", "isGateway": true, "hairpinMode": true, "ipam": {"type": "host-local",
  "ranges": [[{"subnet": "$PODS.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
 {"type": "portmap", "capabilities": {"portMappings": true}}]}
K
    cat >"$DIR/Corefile" <<K
.:53 {
    bind $NODE
    errors
    kubernetes cluster.local {
        kubeconfig $DIR/kubeconfig
    }
}
K
}

# daemon NAME COMMAND... runs one of the node's, again whenever it has ended.
daemon() {
    while :; do
        "${@:2}" || true
        sleep 0.2
    done >>"$DIR/log/$1" 2>&1 &
}
kubectl() { "$KEPT/bin/kubectl" --kubeconfig "$DIR/kubeconfig" "$@"; }
until_ok() { # tenths of a second, command
    local _
    for _ in $(seq "$1"); do
        ! "${@:2}" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    fail "not within $(($1 / 10)) s: ${*:2}"
}

# inside is the first process of the node's namespaces.
inside() {
    local name spark=$1
    # State that programs keep in fixed places, and sockets, are the node's alone, and so is what a kubelet sets.
    for name in /var/lib /var/log /run; do mount -t tmpfs -o mode=755 tmpfs $name; done
    mkdir -p /run/lock /run/netns /run/set
    for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
        cat "/proc/sys/$name" >"/run/set/${name##*/}"
        mount --bind "/run/set/${name##*/}" "/proc/sys/$name"
    done
    echo 1 >/proc/sys/net/ipv4/ip_forward
    ip link set lo up
    ip link add eth0 type veth peer name end0
    ip addr add $NODE/24 dev eth0
    ip link set end0 up
    ip link set eth0 up
    ip route add default dev eth0
    mount --bind "$DIR/resolv.conf" /etc/resolv.conf

    daemon etcd "$KEPT/bin/etcd" --data-dir "$DIR/etcd" --unsafe-no-fsync
    daemon containerd containerd --config "$DIR/containerd.toml"
    daemon apiserver "$KEPT/bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --advertise-address=$NODE --secure-port=6443 \
        --cert-dir="$DIR/certs" --service-cluster-ip-range=$SERVICES.0/24 --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$DIR/accounts.pub" --service-account-signing-key-file="$DIR/accounts.key" \
        --token-auth-file="$DIR/tokens.csv" --authorization-mode=RBAC --allow-privileged=true \
        --kubelet-preferred-address-types=InternalIP
    until_ok 200 ctr version
    (
        for name in "$KEPT/pause.tar" "$DIR"/images/pacer-*-amd64.oci.tar "$spark"; do
            ctr -n k8s.io images import "$name" || { echo "import $name"; kill 1; }
        done
        : >"$DIR/imported"
    ) >"$DIR/log/images" 2>&1 &
    until_ok 600 kubectl get --raw /readyz
    daemon controllers "$KEPT/bin/kube-controller-manager" --kubeconfig="$DIR/kubeconfig" --service-account-private-key-file="$DIR/accounts.key" \
        --root-ca-file="$DIR/certs/apiserver.crt" --leader-elect=false
    daemon scheduler "$KEPT/bin/kube-scheduler" --kubeconfig="$DIR/kubeconfig" --leader-elect=false
    daemon kubelet "$KEPT/bin/kubelet" --kubeconfig="$DIR/kubeconfig" --config="$DIR/kubelet.yaml" --root-dir="$DIR/kubelet" \
        --hostname-override=node-a --node-ip=$NODE
    daemon proxy "$KEPT/bin/kube-proxy" --config="$DIR/proxy.yaml"
    daemon dns "$KEPT/bin/dns" -conf "$DIR/Corefile"
    until_ok 1200 test -e "$DIR/imported"
    until_ok 600 kubectl wait --for=condition=Ready node/node-a --timeout=1s
    until_ok 600 kubectl get serviceaccount default
    : >"$DIR/ready"
    wait
}

# down ends the first process of the node's namespaces, and so all others: the kernel sees to that.
down() {
    local of tree _
    if of=$(init); then
        kill -9 "$of"
    fi
    for _ in $(seq 100); do
        # A group that has a process stays for now.
        for tree in $(groups); do find "$tree" -depth -type d -exec rmdir {} + 2>/dev/null || true; done
        groups >/dev/null || break
        sleep 0.1
    done
    rm -rf "$DIR"/{containerd,kubelet,etcd,images,imported,ready,init,pid}
    ! groups >/dev/null || fail "$(groups | head -n 1) has processes: it is left"
}

usage() { echo "usage: kubernetes.sh real build | up DIR | down DIR | run DIR | enter DIR COMMAND..." >&2; exit 64; }
case ${1:-} in
build) packages; build; echo "k8s.build_s $(<"$KEPT/built")"; exit ;;
up | down | run | enter | inside)
    [[ -n ${2:-} ]] || usage
    [[ $(id -u) -eq 0 ]] || fail "a kubelet needs root"
    mkdir -p "$2"
    DIR=$(cd "$2" && pwd)
    ;;
*) usage ;;
esac
case $1 in
up | down) "$1" ;;
inside | enter) "$1" "${@:3}" ;;
run)
    trap down EXIT # Also where a start fails half way.
    trap exit INT TERM HUP
    up
    say ready
    exec {forever}<> <(:) # Nothing ever comes.
    while :; do read -r -u "$forever" || true; done
    ;;
esac
