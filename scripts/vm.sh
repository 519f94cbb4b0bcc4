#!/usr/bin/env bash
# Gets what the virtual machine of test/e2e/vm is made of, which tests cgroup v2 on a
# real kernel: qemu-system-x86 by apt-get (17 MB), and into the cache, not installed,
# the kernel of linux-image-cloud-amd64, or Ubuntu's linux-image-virtual, with its module
# of RAM disks where it has one, and BusyBox (28 MB to fetch). Where that cannot be had it says so and succeeds: the test is
# skipped then.
set -euo pipefail

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
DIR=$CACHE/vm

say() { printf 'vm: %s\n' "$*"; }
skip() { say "cgroup v2 will not be tested on a real kernel: $*"; exit 0; }

mkdir -p "$DIR"
exec 9>"$DIR/lock"
flock 9
has_qemu() { command -v qemu-system-x86_64 >/dev/null; }
has_parts() { [[ -s $DIR/vmlinuz && -e $DIR/brd.ko && -x $DIR/busybox ]]; }
if has_qemu && has_parts; then exit; fi

[[ $(uname -m) == x86_64 ]] || skip "its machine is of kind x86_64, this one is $(uname -m)"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "there is no apt-get to get qemu and a kernel by"
sudo=()
if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || has_qemu || skip "only root can install qemu-system-x86"
    sudo=(sudo -n)
fi
"${sudo[@]}" apt-get update -qq || say "apt-get update failed"

if ! has_qemu; then
    say "installing Debian package qemu-system-x86 by apt-get (17 MB to fetch)"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove --no-install-recommends qemu-system-x86 >/dev/null ||
        skip "apt-get install qemu-system-x86 failed"
fi

if ! has_parts; then
    kernel=$(apt-cache depends linux-image-cloud-amd64 linux-image-virtual 2>/dev/null | sed -nE 's/^ *Depends: (linux-image-[0-9].*)$/\1/p')
    kernel=${kernel%%$'\n'*}
    [[ -n $kernel ]] || skip "there is no package linux-image-cloud-amd64 or linux-image-virtual"
    say "fetching the kernel of package $kernel and BusyBox into $DIR (28 MB)"
    work=$(mktemp -d "$DIR/fetch.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && apt-get download -qq "$kernel" busybox-static 2>"$work/faults") ||
        skip "apt-get download $kernel busybox-static failed: $(tail -1 "$work/faults")"
    part() { # package pattern file
        dpkg-deb --fsys-tarfile "$work"/"$1"_*.deb | tar -xO --wildcards "$2" >"$work/$3" && [[ -s $work/$3 ]] || skip "package $1 has no $2"
    }
    part "$kernel" './boot/vmlinuz-*' vmlinuz
    # Page cache needs a block device, which the machine has none of without it.
    dpkg-deb --fsys-tarfile "$work/$kernel"_*.deb | tar -xO --wildcards './*/drivers/block/brd.ko' >"$work/brd.ko" 2>/dev/null || : >"$work/brd.ko"
    part busybox-static './*bin/busybox' busybox
    chmod 755 "$work/busybox"
    mv "$work/vmlinuz" "$work/brd.ko" "$work/busybox" "$DIR"
fi
