#!/usr/bin/env bash
# Has Go fetch the modules that are not in its cache, for all packages and their tests, with one
# line: else each command of Go's says so for each of them.
set -euo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
if ! GOPROXY=off "$GO" list -deps -test ./... >/dev/null 2>&1; then
    echo "setup: having Go fetch its modules (about 120 MB the first time)"
    if ! said=$("$GO" list -deps -test ./... 2>&1 >/dev/null); then
        printf 'setup: go list failed:\n%s\n' "$(grep -v '^go: downloading' <<<"$said")" >&2
        exit 1
    fi
fi
