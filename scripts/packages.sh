#!/usr/bin/env bash
# Makes what is released, in out/packages: deb, rpm and tar.gz for amd64 and arm64 with SHA256SUMS or, with the word
# image, an OCI archive for each, with the word deb that alone. Files are the same to the byte wherever the same commit is
# built: they are as old as the commit, or as SOURCE_DATE_EPOCH says. Needs Go and the jar, no daemon and no root. RELEASE
# stands for what VERSION says.
#   packages.sh [image|deb] [ARCH...]
#   packages.sh check  makes those of amd64 twice, below two directories: they have to be the same, small enough and within
#                      the exposure that units may have
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1:-} == check ]]; then
    fail() { printf 'packages: %s\n' "$*" >&2; exit 1; }
    within() { # figure value most
        printf '%s %s\n' "$1" "$2"
        awk -v is="$2" -v most="$3" 'BEGIN { exit !(is <= most) }' || fail "$1 is $2, at most $3 may be"
    }
    mib() { stat -c %s "$1" | awk '{ printf "%.1f", $1 / 1048576 }'; }
    twice=$(mktemp -d)
    trap 'rm -rf "$twice"' EXIT
    for n in 1 2; do
        mkdir -p "$twice/$n/tmp"
        for kind in "" image; do
            # shellcheck disable=SC2086
            TMPDIR=$twice/$n/tmp OUT=$twice/$n/out "$0" $kind amd64 >/dev/null
        done
    done
    diff "$twice"/[12]/out/SHA256SUMS || fail "what is made twice differs"
    echo "packages.reproducible 1"
    if revision=$(git rev-parse --short=12 HEAD 2>/dev/null); then
        tar -xzf "$twice"/1/out/*.tar.gz -C "$twice" --wildcards '*/bin/pacer'
        said=$("$twice"/pacer-*/bin/pacer version)
        [[ $said == *"(revision $revision"* ]] || fail "a binary of commit $revision says: $said"
    fi
    within packages.deb_mib "$(mib "$twice"/1/out/*.deb)" 30
    within image.mib "$(mib "$twice"/1/out/*.oci.tar)" 60
    for unit in planner:2.0 node:7.0; do
        exposure=$(systemd-analyze security --offline=true "deploy/systemd/pacer-${unit%:*}.service" | sed -nE 's/.*exposure level.*: ([0-9.]+).*/\1/p')
        within "units.exposure.${unit%:*}" "$exposure" "${unit#*:}"
    done
    exit
fi

NFPM=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
OUT=${OUT:-out/packages}
GO=${GO:-go}
kind=packages
case ${1:-} in image | deb)
    kind=$1
    shift
    ;;
esac
arches=("$@")
[[ ${#arches[@]} -gt 0 ]] || arches=(amd64 arm64)

say() { printf 'packages: %s\n' "$*"; }
# As old as the commit; the time of a tree without Git is the beginning.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
# What the binaries say that they are made of. Go itself is told nothing of a work tree beside its clone.
revision=$(git rev-parse --short=12 HEAD 2>/dev/null || true)
[[ -z $revision ]] || git diff --quiet HEAD || revision+=+changes
VERSION=${RELEASE:-$(cat VERSION)}
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH VERSION MTIME CGO_ENABLED=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$OUT"

# archive DIR FILE  is a tar of DIR without owners, in one order and with one time.
archive() {
    tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -c . >"$2"
}

binaries() { # arch directory
    GOARCH=$1 GOOS=linux $GO build -trimpath -buildvcs=false \
        -ldflags "-s -w -buildid= -X github.com/sparkpacer/pacer/cli/config.release=$VERSION -X github.com/sparkpacer/pacer/cli.built=$revision" -o "$2/" ./cmd/pacer
    ln -s pacer "$2/planner"
    ln -s pacer "$2/nodecontroller"
}

# blob FILE  puts a file into the image under its digest, and prints that with its size.
blob() {
    local sum
    sum=$(sha256sum "$1" | cut -d' ' -f1)
    mkdir -p "$image/blobs/sha256"
    mv "$1" "$image/blobs/sha256/$sum"
    printf '"digest":"sha256:%s","size":%s' "$sum" "$(stat -c %s "$image/blobs/sha256/$sum")"
}

image() { # arch stage
    local image=$work/image-$1 root=$work/root-$1 layer config manifest diff
    mkdir -p "$root/usr/bin" "$root/tmp" "$root/etc/pacer" "$root/var/lib/pacer" "$image"
    cp -P "$2"/bin/* "$root/usr/bin/"
    # Users without a name have a home in the state's directory.
    printf 'root:x:0:0:root:/var/lib/pacer:/\npacer:x:65532:65532:pacer:/var/lib/pacer:/\n' >"$root/etc/passwd"
    chmod 1777 "$root/tmp" "$root/var/lib/pacer"
    archive "$root" "$work/layer"
    diff=$(sha256sum "$work/layer" | cut -d' ' -f1)
    gzip -9 -n <"$work/layer" >"$work/layer.gz"
    layer=$(blob "$work/layer.gz")
    printf '{"created":"%s","architecture":"%s","os":"linux","config":{"Env":["PATH=/usr/bin","HOME=/var/lib/pacer"],"Entrypoint":["/usr/bin/pacer"],"WorkingDir":"/var/lib/pacer","Labels":{"org.opencontainers.image.version":"%s","org.opencontainers.image.title":"Pacer","org.opencontainers.image.licenses":"Apache-2.0"}},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"%s","created_by":"make image"}]}' \
        "$MTIME" "$1" "$VERSION" "$diff" "$MTIME" >"$work/config"
    config=$(blob "$work/config")
    printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json",%s},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip",%s}]}' \
        "$config" "$layer" >"$work/manifest"
    manifest=$(blob "$work/manifest")
    printf '{"imageLayoutVersion":"1.0.0"}' >"$image/oci-layout"
    printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json",%s,"platform":{"architecture":"%s","os":"linux"},"annotations":{"org.opencontainers.image.ref.name":"%s","io.containerd.image.name":"docker.io/sparkpacer/pacer:%s"}}]}' \
        "$manifest" "$1" "$VERSION" "$VERSION" >"$image/index.json"
    archive "$image" "$OUT/pacer-$VERSION-$1.oci.tar"
}

pack() { # arch stage package
    ARCH=$1 STAGE=$2 $GO run "$NFPM" package -f "$2/nfpm.yaml" -p "$3" -t "$OUT" >"$work/nfpm.log" 2>&1 || { cat "$work/nfpm.log" >&2; exit 1; }
}

deb() { pack "$1" "$2" deb; } # arch stage

packages() { # arch stage
    local root=$work/tar-$1/pacer-$VERSION
    deb "$1" "$2"
    pack "$1" "$2" rpm
    mkdir -p "$root"
    cp -r "$2/bin" "$2/share" "$root/"
    cp -r deploy/systemd deploy/chart deploy/kubernetes.yaml deploy/packages/config.yaml deploy/packages/keep-group LICENSE NOTICE README.md CHANGELOG.md "$root/"
    archive "$work/tar-$1" "$work/tar"
    gzip -9 -n <"$work/tar" >"$OUT/pacer-$VERSION-linux-$1.tar.gz"
}

for arch in "${arches[@]}"; do
    stage=$work/$arch
    mkdir -p "$stage/bin"
    say "building for $arch"
    binaries "$arch" "$stage/bin"
    if [[ $kind != image ]]; then
        $GO run -ldflags "-X github.com/sparkpacer/pacer/cli/config.release=$VERSION" ./test/pages "$stage"
        # nfpm fills variables in few fields only.
        sed -e "s|\${STAGE}|$stage|g; s|@MTIME@|$MTIME|" deploy/packages/nfpm.yaml >"$stage/nfpm.yaml"
    fi
    "$kind" "$arch" "$stage"
done
(cd "$OUT" && sha256sum -- *.deb *.rpm *.tar.gz *.oci.tar 2>/dev/null >SHA256SUMS || true)
say "$(cd "$OUT" && ls -1 | wc -l) files in $OUT"
