#!/usr/bin/env bash
# Runs golangci-lint $1, which is installed to the cache by the Go tool and is no
# dependency of the module.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
lint=$CACHE/golangci-lint-$1
if [[ ! -x $lint ]]; then
    echo "lint: installing golangci-lint $1 to $lint"
    bin=$(mktemp -d)
    trap 'rm -rf "$bin"' EXIT
    (cd "$bin" && GOFLAGS='' GOBIN="$bin" go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$1")
    mv "$bin/golangci-lint" "$lint"
fi
"$lint" run ./...
