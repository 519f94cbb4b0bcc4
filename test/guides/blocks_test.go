package guides

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/spark"
	"github.com/sparkpacer/pacer/test/realenv"
)

// block is a part of a page that is run: its mark, `run` or `run spark`, and its commands.
var block = regexp.MustCompile("(?ms)^```sh (run[^\n]*)\n(.*?)^```$")

// fresh makes the fresh root below $1 and runs the script in the file $2 there. What is written lands in a tmpfs.
const fresh = `
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir -p "$1"/up/usr/local/bin "$1"/up/home/engineer "$1"/work "$1"/root
cp "$PACER" "$1"/up/usr/local/bin/pacer
cp "$2" "$1"/up/home/engineer/script
command -v sudo >/dev/null || { printf '#!/bin/sh\nexec "$@"\n' >"$1"/up/usr/local/bin/sudo; chmod 755 "$1"/up/usr/local/bin/sudo; }
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1"/root
mount --rbind /sys "$1"/root/sys
mount --rbind /dev "$1"/root/dev
mount -t proc proc "$1"/root/proc
mount -t tmpfs tmpfs "$1"/root/tmp
rm -rf "$1"/root/etc/pacer "$1"/root/var/lib/pacer
hostname "$3"
echo "127.0.0.1 localhost $3" >"$1"/root/etc/hosts
ip link set lo up
exec chroot "$1"/root /usr/bin/env -i HOME=/home/engineer PATH="/usr/local/bin:$PATH" PACER_CLIENT_TIMEOUT=1m PACER_NODE_ARCHIVES=off $KEEP \
	bash -c 'cd; exec bash -euo pipefail -x script'
`

// run runs the blocks of each page that have the mark.
func run(t *testing.T, mark string, keep ...string) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks, failed := 0, 0
	for i, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		script, n := "", 0
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			if m[1] == mark {
				script, n = script+m[2], n+1
			}
		}
		if n == 0 {
			continue
		}
		blocks += n
		t.Run(filepath.Base(page), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child",
				"sh", "-c", fresh, "sh", t.TempDir(), path, fmt.Sprintf("guide-%d-%d", os.Getpid(), i))
			c.Env = append(os.Environ(), "PACER="+realenv.Binary(t, "pacer"), "KEEP="+strings.Join(keep, " "))
			out, err := c.CombinedOutput()
			t.Logf("%s:\n%s", filepath.Base(page), out)
			if err != nil {
				failed++
				t.Errorf("a block of %s failed: %v", page, err)
			}
		})
	}
	if blocks == 0 {
		t.Errorf("no page has a block that is marked %q", mark)
	}
	fmt.Printf("docs.blocks_run %d\ndocs.blocks_failed %d\n", blocks, failed)
}

// The blocks that need no Spark do what their pages say, one after the other.
func TestBlocks(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 || len(spark.Jar) == 0 {
		t.Skip("needs root, namespaces and the jar: make test")
	}
	run(t, "run")
}

// So do those that run applications on real Spark.
func TestBlocksOnSpark(t *testing.T) {
	realenv.RequireAll(t)
	home := realenv.SparkHome(t)
	run(t, "run spark", "SPARK_HOME="+home, "PYSPARK_PYTHON="+os.Getenv("PYSPARK_PYTHON"), "PYSPARK_DRIVER_PYTHON="+os.Getenv("PYSPARK_DRIVER_PYTHON"))
}
