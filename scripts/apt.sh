# Debian packages, for the scripts that source this, which have say and fail.
#   apt_install PACKAGE...  installs them by apt-get, says so, and fails where that cannot be
updated=
apt_install() {
    command -v apt-get >/dev/null || fail "$* is missing and there is no apt-get: install it by hand"
    local sudo=()
    if [[ $(id -u) -ne 0 ]]; then
        command -v sudo >/dev/null || fail "$* is missing: run 'apt-get install $*' as root"
        sudo=(sudo)
    fi
    say "installing Debian package $* by apt-get"
    if [[ -z $updated ]]; then
        quietly "${sudo[@]}" apt-get update -qq || fail "apt-get update failed"
        updated=1
    fi
    quietly "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove --no-install-recommends \
        -o Dpkg::Options::=--force-confold "$@" || fail "apt-get install $* failed"
}
# quietly runs a command, and shows what it said if it fails.
quietly() {
    local said
    said=$("$@" 2>&1) || { printf '%s\n' "$said" >&2; return 1; }
}
