#!/usr/bin/env bash
# Installs what building, testing and running the demonstration needs beyond Go
# and a JDK: Maven, iproute2, iptables and Python's venv module by apt-get, pyspark and numpy by
# pip into a virtual environment in the cache for each version of pyspark: the one
# tested (PYSPARK) and those of OLDEST and OTHERS, where they are given; Docker by
# apt-get where that is easily had, as Pacer works without; what Go fetches, and Maven for the
# jar. What cannot be installed is checked first: system, Go, JDK and, for what runs
# Spark (AS_ROOT=1), root. BUILDS=1 installs what building takes: Maven, and what it and Go fetch. COMPILER=1 installs the C compiler that Go's race detector
# needs, PANDAS=1 pandas and pyarrow for the pyspark tested, DUCKDB=1 DuckDB and its TPC-H beside it, YARN=1 the classes of a YARN
# and a Kubernetes for tests, BROWSER=1 chromium.
# Says what it installs, in one line each, does nothing when all is there, and lets one caller at a time do it. It starts no daemon,
# has none started at boot, and removes no directory that it has not made.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
PYSPARK=${PYSPARK:-4.3.0}
VENV=${VENV:-$CACHE/venv-pyspark-$PYSPARK}
MADE=.made-by-pacer # A file in each virtual environment that this script has made.

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

[[ $(uname -s) == Linux ]] || fail "this is $(uname -s); Pacer runs on Linux, for it needs cgroups"
if [[ -n ${AS_ROOT:-} && $(id -u) -ne 0 ]]; then
    fail "real Spark runs in cgroups, which only root can make: run make as root (make build and make check need no root)"
fi
command -v go >/dev/null || fail "Go is not in PATH; Pacer needs Go 1.26 or newer"
go=$(go env GOVERSION 2>&1) || fail "go env failed: $go"
[[ $go =~ ^go1\.([0-9]+) && ${BASH_REMATCH[1]} -ge 26 ]] || fail "go is of version ${go#go}; Pacer needs Go 1.26 or newer"
command -v java >/dev/null || fail "java is not in PATH; Pacer needs a JDK 17 or newer"
command -v javac >/dev/null || fail "javac is not in PATH; Pacer needs a JDK, not only a JRE, 17 or newer"
major=$(javac -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')
[[ $major =~ ^[0-9]+$ && $major -ge 17 ]] || fail "javac is of version $major; Pacer needs a JDK 17 or newer"

mkdir -p "$CACHE"
exec 9>"$CACHE/setup.lock"
if ! flock -n 9; then
    say "waiting for another setup to end"
    flock 9
fi

. scripts/apt.sh
command -v mvn >/dev/null || apt_install maven
[[ -n ${BUILDS:-} ]] || command -v python3 >/dev/null || apt_install python3
# Tests make networks of their own by it.
[[ -z ${AS_ROOT:-} ]] || command -v ip >/dev/null || apt_install iproute2
[[ -z ${AS_ROOT:-} ]] || command -v iptables >/dev/null || apt_install iptables
[[ -z ${COMPILER:-} ]] || command -v gcc >/dev/null || apt_install gcc libc6-dev
[[ -z ${BROWSER:-} ]] || scripts/browser.sh chromium

has_packages() { # venv pyspark-version
    [[ -x $1/bin/python3 ]] && "$1/bin/python3" - "$2" 2>/dev/null <<'PY'
import sys
from importlib.metadata import version
version("numpy")
sys.exit(version("pyspark") != sys.argv[1])
PY
}

# What pip installs is of these files, whose hashes are those of PyPI: a file with another hash is refused. Of build and
# the like only wheels are taken; a pyspark, which is none, is built by what build has installed.
fetch() { # venv requirements pip's flags
    "$1/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "scripts/requirements/$2.txt" "${@:3}"
}

pyspark() { # venv pyspark-version
    if has_packages "$1" "$2"; then
        return
    fi
    if [[ ! -x $1/bin/pip ]]; then
        # One that was interrupted is made anew; others, as uv makes them without pip, are somebody's.
        if [[ -e $1/$MADE ]]; then
            rm -rf "$1"
        elif [[ -n $(ls -A "$1" 2>/dev/null) ]]; then
            fail "$1 is not of set-up's making and has neither pyspark $2 with numpy nor pip: install them there, or remove it"
        fi
        # Debian's python3 has the venv module but not what it needs to work.
        python3 -c 'import venv, ensurepip' 2>/dev/null || apt_install python3-venv
        say "making the virtual environment $1"
        mkdir -p "$1"
        : >"$1/$MADE"
        python3 -m venv "$1"
    fi
    [[ -e scripts/requirements/pyspark-$2.txt ]] || fail "there is no hash of pyspark $2 in scripts/requirements: add its file, or install it into $1"
    say "installing pyspark $2 and numpy into $1 by pip (about 450 MB to fetch)"
    fetch "$1" build --only-binary :all:
    fetch "$1" common --only-binary :all:
    fetch "$1" "pyspark-$2" --no-deps --use-pep517 --no-build-isolation
    has_packages "$1" "$2" || fail "pyspark $2 is not usable in $1"
}

[[ -n ${BUILDS:-} ]] || pyspark "$VENV" "$PYSPARK"
if [[ -n ${PANDAS:-} ]] && ! "$VENV/bin/python3" -c 'import pandas, pyarrow' 2>/dev/null; then
    say "installing pandas and pyarrow into $VENV by pip (about 60 MB to fetch)"
    fetch "$VENV" arrow --only-binary :all:
fi
if [[ -n ${DUCKDB:-} ]] && ! "$VENV/bin/python3" -c 'import duckdb, duckdb_extension_tpch' 2>/dev/null; then
    say "installing duckdb and its TPC-H into $VENV by pip (about 30 MB to fetch)"
    fetch "$VENV" duckdb --only-binary :all:
fi
[[ -z ${YARN:-} ]] || { scripts/yarn.sh fetch && scripts/kubernetes.sh fetch; }
for version in ${OLDEST:-} ${OTHERS:-}; do
    pyspark "$CACHE/venv-pyspark-$version" "$version"
done

# Executors run in containers where Docker is, else as processes. The daemon that
# demonstrations and tests use is started by scripts/docker.sh: the package must
# not start one of its own, now or at boot, which would make a bridge and drop what the
# machine forwards.
install_docker() {
    command -v dockerd >/dev/null && return
    if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
        say "Docker is not installed, and only root can do that by apt-get: executors run as processes"
        return
    fi
    local new=(docker)
    command -v containerd >/dev/null || new+=(containerd)
    # In a shell of its own: without Docker set-up is complete all the same, and what
    # keeps the daemon from starting goes however that shell ends.
    (
        policy=/usr/sbin/policy-rc.d
        if [[ ! -e $policy ]]; then
            trap 'rm -f "$policy"' EXIT
            trap 'exit 130' INT TERM HUP
            printf '#!/bin/sh\nexit 101\n' >"$policy"
            chmod 755 "$policy"
        fi
        apt_install docker.io containerd runc iptables
        not_at_boot "${new[@]}"
        say "the Docker daemon is not started at boot (to have it: systemctl enable --now docker)"
    ) || say "without Docker executors run as processes"
}

# not_at_boot takes back that packages have services started at boot, by systemd or without it.
not_at_boot() { # services
    local name
    for name; do
        # It works for the packages' own scripts alone, which name themselves.
        DPKG_MAINTSCRIPT_PACKAGE=$name deb-systemd-helper disable "$name.service" "$name.socket" >/dev/null 2>&1 || true
        [[ ! -e /etc/init.d/$name ]] || update-rc.d "$name" disable >/dev/null 2>&1 || true
        if compgen -G "/etc/systemd/system/*.wants/$name.*" >/dev/null || compgen -G "/etc/rc[2-5].d/S*$name" >/dev/null; then
            say "$name is started at boot and cannot be kept from it: systemctl disable $name"
        fi
    done
}
[[ -n ${BUILDS:-} ]] || install_docker

scripts/modules.sh

# Maven fetches its plugins and Spark's classes when they are first used. A project with
# the jar's pom.xml and next to no source has it do that here, once for each pom.xml.
warm_maven() {
    local poms stamp dir
    poms=$(cat spark/parent/pom.xml spark/pom.xml | sha256sum | cut -d' ' -f1)
    stamp=$CACHE/maven-$poms
    [[ ! -e $stamp || ! -d $HOME/.m2/repository ]] || return 0
    say "having Maven fetch its plugins and Spark 4.2.0 (about 400 MB the first time)"
    dir=$(mktemp -d)
    mkdir -p "$dir/spark/src/main/scala" "$dir/spark/src/test/scala"
    cp -r spark/parent "$dir/spark/parent"
    cp spark/pom.xml "$dir/spark/"
    printf 'class Warm\n' >"$dir/spark/src/main/scala/Warm.scala"
    printf 'class WarmTest { @org.junit.jupiter.api.Test def warm(): Unit = () }\n' >"$dir/spark/src/test/scala/WarmTest.scala"
    (cd "$dir/spark" && mvn -B -ntp -q package >"$dir/log" 2>&1) || fail "Maven failed, see $dir/log: $(grep -m 3 ERROR "$dir/log")"
    rm -rf "$dir"
    touch "$stamp"
}
warm_maven
if [[ -n ${BUILDS:-} ]]; then
    say "ready to build: Go ${go#go}, JDK $major, Maven"
    exit
fi
say "ready: Go ${go#go}, JDK $major, Maven, pyspark $PYSPARK${OLDEST:+, $OLDEST}${OTHERS:+, $OTHERS}"
