# Packages of npm, for the scripts that source this after apt.sh.
#   npm_package NAME@VERSION DIRECTORY  unpacks one there; nothing of it is run
npm_package() {
    command -v npm >/dev/null || apt_install npm
    local packed
    packed=$(mktemp -d)
    npm pack --silent --pack-destination "$packed" "$1" >/dev/null || fail "npm pack $1 failed"
    mkdir -p "$2"
    tar -xzf "$packed"/*.tgz -C "$2" --strip-components 1
    rm -rf "$packed"
}
