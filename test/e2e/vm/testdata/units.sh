#!/bin/bash
# What is tried of the package and its units, as root on a machine of its own that systemd runs (scripts/units-vm.sh). A
# line says what held, or what did not, to the second serial port.
set -u
. /test/settings
export PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive
first=/test/pacer_${RELEASE}_amd64.deb second=/test/pacer_$RELEASE.1_amd64.deb
below=/sys/fs/cgroup/system.slice/pacer-executors.service/executors
failed=0 faults=0

ok() { echo "ok $*"; }
no() {
    failed=1
    echo "FAILED $*"
    journalctl -q -n 15 --no-pager -o cat | sed 's/^/  /'
    ((++faults < 4)) || exit 1
}
# holds WHAT COMMAND...  says whether a command succeeds.
holds() { local what=$1; shift; if "$@"; then ok "$what"; else no "$what"; fi; }
# await WHAT COMMAND...  is holds for what takes some time.
await() {
    local what=$1 n
    shift
    for ((n = 0; n < 400; n++)); do
        if "$@" >/dev/null 2>&1; then ok "$what"; return; fi
        sleep 0.5
    done
    no "$what"
}
active() { systemctl is-active --quiet "$@"; }
executors() {
    local pid
    find "$below" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -n | while read -r pid; do
        ! grep -qs -e --executor-id "/proc/$pid/cmdline" || echo "$pid"
    done
}
quotas() {
    local group quota
    for group in "$below"/app-*; do
        { read -r quota <"$group/cpu.max"; } 2>/dev/null && echo "${group##*/} $quota"
    done
}
many() { [[ $(executors | wc -l) -eq $1 ]]; }
bounded() { [[ $(quotas | grep -c " 10000 100000$") -eq $1 ]]; }
lifted() { [[ $(quotas | grep -c " max ") -eq $1 ]]; }
ready() { pacer nodes | grep -q ready; }
version() { [[ $(pacer version) == "pacer $1 (revision "* ]]; }
runs() { [[ $(pacer nodes -o json | tr -d ' \n') == *"\"version\":\"$1\""* ]]; }

# stands WHAT COMMAND...  does something while the executors run: they run on, and no quota moves.
stands() {
    local what=$1 before after pids watcher
    shift
    pids=$(executors) before=$(quotas)
    (while sleep 0.3; do quotas | grep -v " 10000 100000$"; done >/tmp/moved) &
    watcher=$!
    "$@" >/tmp/said 2>&1 || { no "$what: $(tail -3 /tmp/said)"; }
    for ((n = 0; n < 400; n++)); do ready && break; sleep 0.5; done
    kill "$watcher"; wait "$watcher" 2>/dev/null
    after=$(quotas)
    if [[ $(executors) == "$pids" && $after == "$before" && ! -s /tmp/moved ]] && active app-1 app-2 app-3 && ready; then
        ok "executors run on and quotas stand: $what"
    else
        no "$what: processes $pids, then $(executors); quotas $before, then $after; meanwhile $(sort -u /tmp/moved)"
    fi
}

mkdir -p /etc/pacer
holds "the package is installed" dpkg -i "$first"
holds "the planner's user is there" id pacer
if active pacer-planner || active pacer-node || active pacer-executors; then no "a unit was started"; else ok "no unit starts before it is configured"; fi
cat >>/etc/pacer/config.yaml <<'YAML' # Its last section is the node's.
  name: n1
  memory: 4g
  credentials: /etc/pacer/join.key
  spark-home: /opt/spark
  java-home: /opt/java
  archives: "off"
  runtime: process
client:
  timeout: 1m
YAML
holds "the configuration is valid" pacer config validate
holds "the planner starts, and says so" systemctl enable --now pacer-planner
await "the planner answers" pacer apps
holds "a join credential is issued" pacer auth issue --join --for 24h --out /etc/pacer/join.key
holds "a user is made" pacer auth issue --user ann --role operate --out /root/ann.key
holds "the node starts, and says so" systemctl enable --now pacer-node
await "the node has joined" ready
for n in 1 2 3; do
    systemd-run -q --unit="app-$n" /opt/java/bin/java /root/ann.key "app-$n"
done
await "three applications have two executors each" many 6
for app in $(pacer apps -o json | grep -o '"id": *"app-[^"]*"' | grep -o 'app-[^"]*'); do
    holds "$app has a cap" pacer apps cap "$app" 0.2
done
await "each executor has a quota" bounded 6
for n in $(executors); do
    case $(cat "/proc/$n/cgroup") in
    */pacer-executors.service/executors/*) ;;
    *) no "process $n is in $(cat "/proc/$n/cgroup")" ;;
    esac
done

stands "daemon-reload" systemctl daemon-reload
stands "daemon-reexec" systemctl daemon-reexec
stands "restart of pacer-node" systemctl restart pacer-node
stands "SIGKILL of the node controller" systemctl kill -s KILL --kill-whom=main pacer-node
stands "restart of pacer-planner" systemctl restart pacer-planner
stands "restart of all at once" systemctl restart pacer-planner pacer-node
stands "upgrade of the package" dpkg -i "$second"
holds "the new release is there" version "$RELEASE.1"
holds "the new release runs" runs "$RELEASE.1"
holds "the configuration was kept" grep -q 'name: n1' /etc/pacer/config.yaml
stands "roll-back of the package" dpkg -i "$first"
holds "the earlier release runs" runs "$RELEASE"
lost=0
for ((round = 1; round <= ROUNDS; round++)); do
    for package in "$second" "$first"; do
        dpkg -i "$package" >/dev/null 2>&1 || no "$package is not installed in round $round"
    done
    echo "round $round of $ROUNDS"
done
await "the node is back" ready
for n in 1 2 3; do active "app-$n" || lost=$((lost + 1)); done
many 6 || no "executors: $(executors)"
await "quotas stand after $ROUNDS upgrades and roll-backs" bounded 6
echo "upgrade.lost $lost"

if dpkg -r pacer >/tmp/said 2>&1; then no "the package was removed under executors"; fi
holds "removal under executors is refused with a line" grep -q '^pacer: 6 processes of executors run on this node: .pacer nodes drain units., wait until' /tmp/said
stands "the removal that was refused" true
holds "the daemons run on" active pacer-planner pacer-node pacer-executors
systemctl restart pacer-executors 2>/dev/null || echo "note: pacer-executors does not start again beside executors"
holds "a restart of pacer-executors ends no executor" many 6
stands "restart of pacer-node after it" systemctl restart pacer-node
systemctl stop pacer-node
holds "executors outlive a node controller that is stopped" many 6
await "a guard lifts their quotas" lifted 6
systemctl start pacer-node
await "the next node controller bounds them again" bounded 6

systemctl stop app-1 app-2 app-3
await "executors end with their applications" many 0
holds "the package is removed from a node that is empty" dpkg -r pacer
if active pacer-planner || active pacer-node || active pacer-executors; then no "a unit is left"; else ok "no unit is left"; fi
holds "state and configuration are kept" test -s /var/lib/pacer/planner/planner.db -a -s /etc/pacer/config.yaml
holds "a purge removes what was stored" dpkg -P pacer
holds "nothing is left of the state" test ! -e /var/lib/pacer
echo done
exit $failed
