package realenv

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
)

// SlowDown gives all executors of a node so many cores at most, in both versions of cgroups.
func SlowDown(t testing.TB, node string, cores float64) {
	t.Helper()
	const period = 100_000
	quota := strconv.Itoa(int(cores * period))
	for _, file := range []struct{ path, text string }{
		{filepath.Join("/sys/fs/cgroup/cpu", cgroup.NodeParent(node), "cpu.cfs_quota_us"), quota},
		{filepath.Join("/sys/fs/cgroup", cgroup.NodeParent(node), "cpu.max"), quota + " 100000"},
	} {
		if os.WriteFile(file.path, []byte(file.text), 0) == nil {
			return
		}
	}
	t.Fatalf("no group of node %s takes a quota", node)
}
