#!/usr/bin/env bash
# A YARN for tests and figures: one ResourceManager and two NodeManagers, processes on loopback, from
# Hadoop's own classes. No Hadoop is installed.
#   yarn.sh fetch      fetch into the cache what the wheel of pyspark lacks of them (67 MB), by curl
#   yarn.sh start DIR [GROUPS]
#                      start it with all its files in DIR, and return when both NodeManagers have registered
#   yarn.sh stop DIR   stop it, containers included
#   yarn.sh recover DIR
#                      kill -9 both NodeManagers and start them again, which take back the containers that run
#   yarn.sh run DIR [GROUPS]
#                      start it, say "ready", and stop it on SIGTERM
# DIR/conf is the HADOOP_CONF_DIR of who submits, DIR/nm1 and DIR/nm2 have what the NodeManagers
# write, DIR/*.pid are the processes; start again starts those that were killed. GROUPS is what a container
# gets from YARN's handlers: weights is a group with a weight, strict one with a quota too. They are made in
# the hierarchy of cgroup v1 below the group whose directory is the text of DIR/groups.
# The daemons are of Hadoop 3.5.0, as is the wheel of pyspark 4.3.0; clients may be older.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
KEPT=$CACHE/yarn-3.5.0
WHEEL=$CACHE/venv-pyspark-4.3.0
HADOOP=org.apache.hadoop.yarn.server
HOST=127.0.0.1 # Of all: the two NodeManagers are one machine's, as they are for Spark.

say() { printf 'yarn: %s\n' "$*"; }
fail() { printf 'yarn: %s\n' "$*" >&2; exit 1; }
. scripts/maven.sh

fetch() {
    fetch_jars "$KEPT" <<'JARS'
06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c org/apache/hadoop/hadoop-client-minicluster/3.5.0/hadoop-client-minicluster-3.5.0.jar
add5915e6acfc6ab5836e1fd8a5e21c6488536a8c1f21f386eeb3bf280b702d7 org/bouncycastle/bcprov-jdk18on/1.78.1/bcprov-jdk18on-1.78.1.jar
4b48ea084e5232b9d79ebca1887b9de037b124931807cd60710748c2aee08cc9 org/bouncycastle/bcpkix-jdk18on/1.78.1/bcpkix-jdk18on-1.78.1.jar
d9fa56f97b0f761ce3bc8d9d74c5d7137a987bf5bd3abfe1003f9bafa45a1d2f org/bouncycastle/bcutil-jdk18on/1.78.1/bcutil-jdk18on-1.78.1.jar
JARS
}

property() { printf '<property><name>%s</name><value>%s</value></property>\n' "$1" "$2"; }
document() { printf '<?xml version="1.0"?>\n<configuration>\n%s\n</configuration>\n' "$(cat)"; }

# ports prints so many that are free on all of loopback.
ports() {
    python3 - "$1" <<'PY'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("", 0))
print(*(s.getsockname()[1] for s in held))
PY
}

# of_all are properties that clients and daemons need, of_node those of a NodeManager.
of_all() {
    local scheduler tracker admin web client
    read -r client scheduler tracker admin web <<<"$(ports 5)"
    property yarn.resourcemanager.hostname $HOST
    property yarn.resourcemanager.bind-host $HOST
    property yarn.resourcemanager.address $HOST:$client
    property yarn.resourcemanager.scheduler.address $HOST:$scheduler
    property yarn.resourcemanager.resource-tracker.address $HOST:$tracker
    property yarn.resourcemanager.admin.address $HOST:$admin
    property yarn.resourcemanager.webapp.address $HOST:$web
    property yarn.resourcemanager.nodemanagers.heartbeat-interval-ms 200
    property yarn.scheduler.minimum-allocation-mb 128
}
of_node() { # name
    local at=$DIR/$1 rpc localizer web
    read -r rpc localizer web <<<"$(ports 3)"
    property yarn.nodemanager.hostname $HOST
    property yarn.nodemanager.bind-host $HOST
    property yarn.nodemanager.address $HOST:$rpc
    property yarn.nodemanager.localizer.address $HOST:$localizer
    property yarn.nodemanager.webapp.address $HOST:$web
    property yarn.nodemanager.local-dirs "$at/local"
    property yarn.nodemanager.log-dirs "$at/logs"
    property yarn.nodemanager.resource.memory-mb 2048
    property yarn.nodemanager.resource.cpu-vcores 2
    property yarn.nodemanager.recovery.enabled true
    property yarn.nodemanager.recovery.dir "$at/recovery"
    property yarn.nodemanager.vmem-check-enabled false
    property yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage 99.5
}

# of_groups MODE makes the group of all containers, and prints the properties of a NodeManager that
# gives each a group.
of_groups() {
    local top
    top=$(mktemp -d /sys/fs/cgroup/cpu/pacer-yarn-XXXXXX) || fail "no group can be made in cgroup v1's tree of the CPU"
    echo "$top" >"$DIR/groups"
    javac -nowarn -d "$DIR/classes" -cp "$(class_path)" test/realenv/yarn/CgroupsExecutor.java || fail "javac has failed"
    property yarn.nodemanager.container-executor.class pacer.yarn.CgroupsExecutor
    property yarn.nodemanager.resource.cpu.enabled true
    property yarn.nodemanager.linux-container-executor.cgroups.hierarchy "/${top##*/}"
    property yarn.nodemanager.linux-container-executor.cgroups.strict-resource-usage "$([[ $1 == strict ]] && echo true || echo false)"
}
# recoverable writes those classes of the minicluster anew by which a NodeManager stores its state: they call leveldb by
# names of shaded jars, none of which has it. Pyspark's jar has it by its own, as its native code needs.
recoverable() {
    python3 - "$KEPT/hadoop-client-minicluster-3.5.0.jar" "$DIR/classes" <<'PY'
import pathlib, re, struct, sys, zipfile

SHADED = re.compile(rb"org/apache/hadoop/shaded/(?=org/(?:fusesource|iq80)/)")
SIZE = {5: 8, 6: 8, 7: 2, 8: 2, 15: 3, 16: 2, 19: 2, 20: 2} # Of a constant by its tag, else 4; 1 is a string.

def unshaded(body): # A class has names in its constants alone (JVM specification, 4.4).
    at, left, out = 10, struct.unpack_from(">H", body, 8)[0] - 1, body[:10]
    while left > 0:
        tag = body[at]
        if tag == 1:
            end = at + 3 + struct.unpack_from(">H", body, at + 1)[0]
            text = SHADED.sub(b"", body[at + 3:end])
            out += struct.pack(">BH", tag, len(text)) + text
        else:
            end = at + 1 + SIZE.get(tag, 4)
            out += body[at:end]
        at, left = end, left - (2 if tag in (5, 6) else 1) # A number of eight bytes counts twice.
    return out + body[at:]

with zipfile.ZipFile(sys.argv[1]) as jar:
    for name in jar.namelist():
        if name.startswith("org/apache/hadoop/yarn/server/") and SHADED.search(body := jar.read(name)):
            file = pathlib.Path(sys.argv[2], name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(unshaded(body))
PY
}
class_path() { echo "$KEPT/*:$(scripts/spark-home.sh "$WHEEL")/jars/*"; }

configure() { # [groups]
    local node shared groups='' calculator=Default
    mkdir -p "$DIR/conf" "$DIR/log" "$DIR/classes"
    recoverable
    shared=$(of_all)
    [[ -z $1 ]] || { groups=$(of_groups "$1"); calculator=Dominant; } # It schedules by the CPU that it weighs.
    property fs.defaultFS file:/// | document >"$DIR/conf/core-site.xml"
    document <<<"$shared" >"$DIR/conf/yarn-site.xml"
    {
        property yarn.scheduler.capacity.maximum-am-resource-percent 0.5
        property yarn.scheduler.capacity.resource-calculator org.apache.hadoop.yarn.util.resource.${calculator}ResourceCalculator
        property yarn.scheduler.capacity.root.queues default
        property yarn.scheduler.capacity.root.default.capacity 100
    } | document >"$DIR/conf/capacity-scheduler.xml"
    cat >"$DIR/log/log4j2.properties" <<'LOG'
rootLogger.level = info
rootLogger.appenderRef.stdout.ref = stdout
appender.stdout.type = Console
appender.stdout.name = stdout
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = %d{HH:mm:ss,SSS} %p %c{1}: %m%n%ex
LOG
    for node in nm1 nm2; do
        mkdir -p "$DIR/$node/conf" "$DIR/$node/tmp"
        cp "$DIR"/conf/*.xml "$DIR/$node/conf/"
        { echo "$shared"; of_node $node; echo "$groups"; } | document >"$DIR/$node/conf/yarn-site.xml"
    done
}

# daemon NAME CONF CLASS starts one, unless it runs.
daemon() {
    ! runs "$1" || return 0
    # The serial collector and the first compiler alone: it is small, and short.
    (
        for fd in /proc/self/fd/*; do # The caller's locks and pipes are not its to hold.
            [[ ${fd##*/} -le 2 ]] || eval "exec ${fd##*/}>&-"
        done
        exec setsid java --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED \
            -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$DIR" -Dhadoop.tmp.dir="$DIR/tmp" \
            -Dyarn.log.dir="$DIR/log" \
            -cp "$DIR/log:$2:$DIR/classes:$(class_path)" "$HADOOP.$3" >>"$DIR/$1.log" 2>&1 </dev/null
    ) &
    echo $! >"$DIR/$1.pid"
}
runs() { [[ -s $DIR/$1.pid ]] && grep -qz "$HADOOP" "/proc/$(<"$DIR/$1.pid")/cmdline" 2>/dev/null; }

start() { # [groups]
    fetch
    [[ -e $DIR/conf/yarn-site.xml ]] || configure "${1:-}"
    [[ ! -e $DIR/groups ]] || mkdir -p "$(<"$DIR/groups")" # The NodeManagers would each make it, one of them in vain.
    local node known=0 want
    [[ ! -e $DIR/rm.log ]] || known=$(registered)
    want=$known
    daemon rm "$DIR/conf" resourcemanager.ResourceManager
    for node in nm1 nm2; do
        runs $node || want=$((want + 1))
        daemon $node "$DIR/$node/conf" nodemanager.NodeManager
    done
    for _ in $(seq 600); do
        known=$(registered)
        [[ $known -lt $want ]] || return 0
        for node in rm nm1 nm2; do
            # By its process: a child that has not become a JVM yet has not ended.
            kill -0 "$(<"$DIR/$node.pid")" 2>/dev/null || fail "$node has ended: $(tail -n 3 "$DIR/$node.log")"
        done
        sleep 0.1
    done
    fail "after a minute $((want - known)) NodeManagers have not registered, see $DIR/*.log"
}
registered() { grep -c 'NodeManager from node .* registered' "$DIR/rm.log" || true; }

recover() {
    local name
    for name in nm1 nm2; do
        kill -9 "$(<"$DIR/$name.pid")"
    done
    while runs nm1 || runs nm2; do sleep 0.1; done
    start
}

# stop ends NodeManagers first, which end their containers.
stop() {
    local name
    for name in nm1 nm2 rm; do
        ! runs $name || kill "$(<"$DIR/$name.pid")"
    done
    for _ in $(seq 200); do
        runs nm1 || runs nm2 || runs rm || break
        sleep 0.1
    done
    for name in nm1 nm2 rm; do
        ! runs $name || kill -9 "$(<"$DIR/$name.pid")"
    done
    [[ -e $DIR/groups ]] || return 0
    for _ in $(seq 50); do # A group that has a process stays.
        find "$(<"$DIR/groups")" -depth -type d -exec rmdir {} + 2>/dev/null || true
        [[ -e $(<"$DIR/groups") ]] || return 0
        sleep 0.1
    done
    say "$(<"$DIR/groups") has processes: it is left"
}

usage() { echo "usage: yarn.sh fetch | start DIR [weights|strict] | stop DIR | recover DIR | run DIR [weights|strict]" >&2; exit 64; }
[[ ${3:-} =~ ^(weights|strict|)$ ]] || usage
case ${1:-} in
fetch) fetch ;;
start | stop | recover | run)
    [[ -n ${2:-} ]] || usage
    mkdir -p "$2"
    DIR=$(cd "$2" && pwd)
    ;;&
start | stop | recover) "$1" "${3:-}" ;;
run)
    trap stop EXIT # Also where a start fails half way.
    trap exit INT TERM HUP
    start "${3:-}"
    say ready
    exec {forever}<> <(:) # Nothing ever comes.
    while :; do read -r -u "$forever" || true; done
    ;;
*) usage ;;
esac
