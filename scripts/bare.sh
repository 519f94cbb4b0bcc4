#!/usr/bin/env bash
# Sets Pacer up and builds it in a bare Debian root file system, from a clone that
# belongs to another user: what set-up needs beyond Go and a JDK it has to install. The
# system is made by debootstrap, which is installed where it is missing; Go and the JDK
# are this machine's, and so is what pip and Maven have fetched. Needs root.
#   bare.sh             all of it
#   bare.sh in ROOT     the part inside ROOT, in a mount namespace of its own
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
SUITE=bookworm
say() { printf 'bare: %s\n' "$*"; }
fail() { say "$*" >&2; exit 1; }

inside() { # root
    local root=$1 goroot java name network
    bind() { # what, where
        mkdir -p "$1" "$root$2"
        mount --bind "$1" "$root$2"
    }
    goroot=$(go env GOROOT)
    java=$(readlink -f "$(command -v javac)")
    java=${java%/bin/javac}
    bind "$goroot" "$goroot"
    # Not where it is: what apt-get installs in the root may bring a JDK of that place.
    bind "$java" /opt/jdk
    mount -o remount,ro,bind "$root/opt/jdk"
    # Debian's JDK has links to it, and apt-get in the root writes there.
    [[ ! -d /etc/java-17-openjdk ]] || cp -a /etc/java-17-openjdk "$root/etc/"
    bind "$(go env GOMODCACHE)" /root/go/pkg/mod
    bind "$(go env GOCACHE)" /root/.cache/go-build
    bind "$HOME/.cache/pip" /root/.cache/pip
    bind "$HOME/.m2" /root/.m2
    bind /dev /dev
    mount -t proc proc "$root/proc"
    # The way to the network is this machine's, too, and whom it trusts there.
    for name in /etc/resolv.conf /etc/apt/apt.conf.d/*proxy* /etc/pip.conf; do
        [[ ! -e $name ]] || cp -L --remove-destination "$name" "$root$name"
    done
    for name in /etc/ssl/certs /usr/local/share/ca-certificates; do
        mkdir -p "$root$name"
        cp -rL --remove-destination "$name/." "$root$name/"
    done
    network=(GOPROXY="$(go env GOPROXY)")
    for name in $(compgen -e | grep -iE '^(https?|no)_proxy$|^PIP_|^SSL_CERT'); do
        network+=("$name=${!name}")
    done
    say "${INSIDE:=make build} inside"
    env -i HOME=/root PATH="$goroot/bin:/opt/jdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" JAVA_HOME=/opt/jdk \
        AS_ROOT=1 "${network[@]}" chroot "$root" /bin/bash -euc "cd /pacer; $INSIDE; command -v ip; test ! -e /usr/sbin/policy-rc.d
            test -z \"\$(compgen -G '/etc/systemd/system/*.wants/docker.*'; compgen -G '/etc/rc[2-5].d/S*docker')\""
}
if [[ ${1:-} == in ]]; then
    inside "$2"
    exit
fi

[[ $(id -u) -eq 0 ]] || fail "only root can make a root file system"
if ! command -v debootstrap >/dev/null; then
    say "installing Debian package debootstrap by apt-get"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null ||
        fail "apt-get install debootstrap failed"
fi
mkdir -p "$CACHE"
root=$(mktemp -d "$CACHE/bare.XXXXXX")
# This machine's directories are mounted in the other namespace only: none of them is
# below root here.
trap 'rm -rf --one-file-system "$root"' EXIT
trap 'exit 143' INT TERM HUP
say "making a root file system of Debian $SUITE in $root"
debootstrap --variant=minbase --include=ca-certificates,make,git "$SUITE" "$root" >"$root/bare.log" 2>&1 ||
    fail "debootstrap failed: $(tail -1 "$root/bare.log")"
git clone -q . "$root/pacer"
chown -R 1234:1234 "$root/pacer"
INSIDE='make build; bin/pacer version; bin/pacer jar' unshare --mount --propagation private scripts/bare.sh in "$root"
say "set-up works in a bare system"
