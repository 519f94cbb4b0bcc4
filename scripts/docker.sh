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
answers() { DOCKER_HOST=$1 timeout 5 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
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
    setsid dockerd --host "$OWN" --data-root "$DIR/data" --exec-root "$DIR/exec" --pidfile "$PID" \
        --bridge none --iptables=false --ip6tables=false >"$LOG" 2>&1 </dev/null 8>&- 9>&- &
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
    code=0
    # A signal for the command reaches it by its process group; the daemon, in a
    # session of its own, is stopped after it.
    trap : INT TERM HUP
    DOCKER_HOST=$OWN "$@" || code=$?
    stop || true
    exit "$code"
    ;;
*)
    echo "usage: docker.sh run CMD... | start | stop" >&2
    exit 64
    ;;
esac
