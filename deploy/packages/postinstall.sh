#!/bin/sh
# Makes the planner's user. No unit is started: the configuration comes first. After an upgrade daemons that run are
# started again: executors run on meanwhile, and their quotas stand.
set -eu
if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers pacer.conf
elif ! getent passwd pacer >/dev/null; then
    useradd --system --home-dir /var/lib/pacer --shell /usr/sbin/nologin pacer
fi
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
for unit in pacer-planner pacer-node pacer-node-attached; do
    systemctl try-restart "$unit.service"
done
