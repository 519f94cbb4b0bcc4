#!/usr/bin/env bash
# Tries the Debian package and its units on a machine that Debian's systemd runs: a virtual machine with the kernel that
# scripts/vm.sh fetches and a root of Debian packages, unpacked into a RAM disk without root's rights. Inside,
# test/e2e/vm/testdata/units.sh installs, restarts, upgrades, rolls back and removes Pacer under applications that
# test/e2e/vm/standin plays. It prints what held, and the figure upgrade.lost; fails where anything did not. Where qemu or a
# package cannot be had it says so and succeeds. Needs the jar.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
DIR=$CACHE/vm
GO=${GO:-go}
ROUNDS=${ROUNDS:-10}
# What the root has beside what these need.
DEBS=(systemd systemd-sysv dpkg bash coreutils findutils grep sed gawk util-linux mount tar diffutils hostname libc-bin base-passwd)

say() { printf 'units-vm: %s\n' "$*"; }
skip() { say "the units are not tried under a systemd: $*"; exit 0; }

scripts/vm.sh
[[ -s $DIR/vmlinuz && -x $DIR/busybox ]] && command -v qemu-system-x86_64 >/dev/null || skip "there is no virtual machine"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# root_of FILE  makes a tar of the Debian packages, unpacked. None of their scripts runs.
root_of() {
    local root=$work/root deb
    say "fetching Debian packages for a root with systemd (30 MB)"
    mkdir -p "$work/debs/partial" "$root"/usr/{bin,sbin,lib,lib64} "$root"/{proc,sys,dev,run,tmp,var/lib/dpkg/{info,updates,triggers},root,etc/systemd/system}
    : >"$work/status"
    apt-get install -y -qq --download-only --no-install-recommends -o Dir::State::status="$work/status" -o Dir::Cache::archives="$work/debs" \
        -o Debug::NoLocking=1 -o APT::Sandbox::User=root "${DEBS[@]}" >/dev/null 2>"$work/faults" || skip "apt-get: $(tail -1 "$work/faults")"
    for deb in bin sbin lib lib64; do ln -s "usr/$deb" "$root/$deb"; done
    for deb in "$work"/debs/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner
    done
    rm -rf "$root"/usr/share/{doc,man,locale,info,zoneinfo,i18n,perl*,bash-completion} "$root"/usr/lib/*/gconv
    cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
    cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
    chmod 1777 "$root/tmp"
    ln -sf bash "$root/usr/bin/sh"
    : >"$root/var/lib/dpkg/status"
    : >"$root/etc/machine-id"
    : >"$root/etc/fstab"
    printf '127.0.0.1 localhost units\n' >"$root/etc/hosts"
    echo units >"$root/etc/hostname"
    ln -s /usr/lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
    # Nobody logs in, and no D-Bus is there.
    for deb in getty.target serial-getty@ttyS0.service systemd-logind.service systemd-user-sessions.service; do
        ln -sf /dev/null "$root/etc/systemd/system/$deb"
    done
    tar -C "$root" --owner=0 --group=0 --numeric-owner -cf "$1.part" .
    mv "$1.part" "$1"
}

version=$(apt-cache policy systemd 2>/dev/null | sed -n 's/^ *Candidate: //p')
[[ -n $version ]] || skip "there is no Debian package systemd"
base=$DIR/debian-${version//[^A-Za-z0-9.+-]/_}.tar
[[ -s $base ]] || root_of "$base"

say "packing two releases and what plays Spark"
for release in "$(cat VERSION)" "$(cat VERSION).1"; do
    RELEASE=$release OUT=$work/packages scripts/packages.sh deb amd64 >/dev/null
done
mkdir -p "$work/more/test" "$work/more/etc/systemd/system/multi-user.target.wants" "$work/more/opt/spark/jars" "$work/more/opt/java/bin"
CGO_ENABLED=0 $GO build -trimpath -ldflags '-s -w' -o "$work/more/opt/java/bin/java" ./test/e2e/vm/standin
: >"$work/more/opt/spark/jars/spark-core_2.13-4.3.0.jar"
# Without compression: an emulated processor takes longer for xz than for all else of an upgrade.
for deb in "$work"/packages/*.deb; do
    rm -rf "$work/plain"
    dpkg-deb -R "$deb" "$work/plain"
    dpkg-deb -Znone --root-owner-group -b "$work/plain" "$work/more/test/${deb##*/}" >/dev/null
done
cp test/e2e/vm/testdata/units.sh "$work/more/test/units.sh"
printf 'ROUNDS=%s\nRELEASE=%s\n' "$ROUNDS" "$(cat VERSION)" >"$work/more/test/settings"
cat >"$work/more/etc/systemd/system/units-test.service" <<'UNIT'
[Unit]
Description=What is tried
After=multi-user.target
FailureAction=poweroff-immediate
SuccessAction=poweroff-immediate

[Service]
Type=oneshot
ExecStart=/bin/bash /test/units.sh
TimeoutStartSec=infinity
StandardOutput=file:/dev/ttyS1
StandardError=inherit
UNIT
ln -s ../units-test.service "$work/more/etc/systemd/system/multi-user.target.wants/units-test.service"
# The package of the root is taken over into a RAM disk: systemd makes name spaces of its own there, which the
# kernel's first root has no room for.
mkdir -p "$work/image"
cp "$base" "$work/image/root.tar"
chmod u+w "$work/image/root.tar"
tar -C "$work/more" --owner=0 --group=0 --numeric-owner -cf "$work/image/more.tar" .
cp "$DIR/busybox" "$work/image/busybox"
cat >"$work/image/init" <<'INIT'
#!/busybox sh
/busybox mkdir -p /new /dev
/busybox mount -t devtmpfs dev /dev
/busybox mount -t tmpfs -o mode=755,size=90% new /new
/busybox tar -xf /root.tar -C /new && /busybox rm /root.tar
/busybox tar -xf /more.tar -C /new && /busybox rm /more.tar
exec /busybox switch_root /new /lib/systemd/systemd
INIT
chmod 755 "$work/image/init" "$work/image/busybox"
(cd "$work/image" && find . | "$DIR/busybox" cpio -o -H newc -R 0:0 2>/dev/null) >"$work/initramfs"

say "starting the machine"
: >"$work/results"
timeout --foreground "${LIMIT:-3600}" qemu-system-x86_64 -nodefaults -no-reboot -display none -machine pc,accel=tcg -cpu max -smp 2 -m 2048 \
    -kernel "$DIR/vmlinuz" -initrd "$work/initramfs" -serial "file:$work/console" -serial "file:$work/results" \
    -append "console=ttyS0 panic=-1 loglevel=4 rdinit=/init no_timer_check mitigations=off random.trust_cpu=on systemd.unified_cgroup_hierarchy=1 systemd.show_status=0" || true
tr -d '\r' <"$work/results" | sed -n '/^\(ok\|FAILED\|upgrade\.lost\|note\|  \)/p'
if ! grep -q '^done' "$work/results" || grep -q '^FAILED' "$work/results"; then
    cp "$work/console" "$work/results" "${KEEP:-/tmp}/" 2>/dev/null || true
    tail -20 "$work/console"
    say "not all held"
    exit 1
fi
