#!/usr/bin/env bash
# Docker for demonstrations and tests, where it can run: no systemd is assumed.
#   docker.sh run CMD...  run CMD with a daemon: the one that answers, else one of
#                         Pacer's own that is stopped again afterwards, else none
#   docker.sh start       start Pacer's own and leave it running; prints its DOCKER_HOST
#   docker.sh stop        stop it
# Pacer's own keeps everything in the cache (data, log, pid file, socket), touches
# neither bridges nor iptables (executors use the host's network), and disturbs no
# other daemon.
set -euo pipefail

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
DIR=$CACHE/docker
PID=$DIR/dockerd.pid
LOG=$DIR/dockerd.log
OWN=unix://$DIR/docker.sock

say() { printf 'docker: %s\n' "$*" >&2; }
# Debian 13 has the docker command in a package of its own: it is not needed.
answers() {
    [[ $1 == unix://* ]] && python3 - "${1#unix://}" 2>/dev/null <<'PY'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect(sys.argv[1])
s.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
sys.exit(b" 200 " not in s.recv(100))
PY
}
own_pid() {
    local pid
    pid=$(cat "$PID" 2>/dev/null) && [[ $(cat "/proc/$pid/comm" 2>/dev/null) == dockerd ]] && printf '%s' "$pid"
}

# start returns 1, with a line that says why, where Docker cannot run.
start() {
    if own_pid >/dev/null && answers "$OWN"; then return; fi
    command -v dockerd >/dev/null || { say "dockerd is not installed: executors run as processes"; return 1; }
    [[ $(id -u) -eq 0 ]] || { say "only root can start a Docker daemon: executors run as processes"; return 1; }
    mkdir -p "$DIR"
    (
        # The caller's locks and pipes are not the daemon's to hold.
        for fd in /proc/self/fd/*; do
            [[ ${fd##*/} -le 2 ]] || eval "exec ${fd##*/}>&-"
        done
        exec setsid dockerd --host "$OWN" --data-root "$DIR/data" --exec-root "$DIR/exec" --pidfile "$PID" \
            --bridge none --iptables=false --ip6tables=false >"$LOG" 2>&1 </dev/null
    ) &
    local child=$!
    for _ in $(seq 150); do
        if answers "$OWN"; then
            say "started a Docker daemon of Pacer's own (pid $child, log $LOG)"
            return
        fi
        kill -0 "$child" 2>/dev/null || break
        sleep 0.2
    done
    kill "$child" 2>/dev/null || true
    say "the Docker daemon did not start (see $LOG): $(grep -v level=info "$LOG" | tail -1): executors run as processes"
    return 1
}

stop() {
    local pid
    pid=$(own_pid) || { say "no Docker daemon of Pacer's own runs"; return; }
    kill "$pid"
    for _ in $(seq 150); do
        if [[ ! -e /proc/$pid ]]; then
            umount "$DIR/exec/netns/default" 2>/dev/null || true # The daemon leaves it.
            say "stopped the Docker daemon of Pacer's own (pid $pid)"
            return
        fi
        sleep 0.2
    done
    say "the Docker daemon $pid does not stop"
    return 1
}

case ${1:-} in
start) start && printf '%s\n' "$OWN" ;;
stop) stop ;;
run)
    shift
    if answers "${DOCKER_HOST:-unix:///var/run/docker.sock}"; then
        say "using the Docker daemon that answers"
        exec "$@"
    fi
    if own_pid >/dev/null && answers "$OWN"; then
        say "using Pacer's own Docker daemon, which runs already"
        DOCKER_HOST=$OWN exec "$@"
    fi
    start || exec "$@"
    DOCKER_HOST=$OWN "$@" &
    child=$!
    trap 'kill -TERM "$child" 2>/dev/null || true' INT TERM HUP
    while :; do
        code=0
        wait "$child" || code=$?
        kill -0 "$child" 2>/dev/null || break # A signal for this script ends wait too.
    done
    trap '' INT TERM HUP
    stop || true
    exit "$code"
    ;;
*)
    echo "usage: docker.sh run CMD... | start | stop" >&2
    exit 64
    ;;
esac
