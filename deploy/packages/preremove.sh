#!/bin/sh
# Stops the daemons before their programs go. Executors would run on with the quotas that they have and nobody would
# change these any more: a removal waits until no application runs here. An upgrade comes by here, too, and stops nothing.
set -eu
case ${1:-} in upgrade | failed-upgrade | 1) exit 0 ;; esac
[ -d /run/systemd/system ] || exit 0
left=$(find /sys/fs/cgroup -path '*/pacer-executors.service/*/cgroup.procs' ! -path '*/keeper/*' -exec cat {} + 2>/dev/null | sort -u | wc -l)
if [ "$left" -gt 0 ]; then
    echo "pacer: $left processes of executors run on this node: \`pacer nodes drain $(hostname -s)\`, wait until \`pacer apps\` shows none here, and remove the package again" >&2
    exit 1
fi
systemctl disable --now pacer-node.service pacer-node-attached.service pacer-planner.service pacer-executors.service >/dev/null 2>&1 || true
