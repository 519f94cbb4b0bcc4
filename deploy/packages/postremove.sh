#!/bin/sh
# What was stored stays in /var/lib/pacer until a Debian package is purged.
set -eu
[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
[ "${1:-}" != purge ] || rm -rf /var/lib/pacer
