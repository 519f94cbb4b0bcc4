package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/units"
)

// What a process may have is the least that its group and those above it have, on both versions,
// in a container as outside.
func TestWhatThisProcessMayHave(t *testing.T) {
	const none = "9223372036854771712\n"
	v1 := map[string]string{"cpu/cpu.shares": "1024", "memory/memory.limit_in_bytes": none}
	v2 := map[string]string{"cgroup.controllers": "cpu memory"}
	for name, c := range map[string]struct {
		base, files map[string]string
		groups      string
		cores       units.Cores
		memory      units.Bytes
	}{
		"v1, no bound":   {v1, map[string]string{"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, "2:cpu:/a\n3:memory:/a\n", units.Unlimited, 0},
		"v1, one's own":  {v1, map[string]string{"cpu/a/cpu.cfs_quota_us": "150000", "cpu/a/cpu.cfs_period_us": "100000", "memory/b/memory.limit_in_bytes": "1073741824\n"}, "2:cpu,cpuacct:/a\n3:memory:/b\n", 1.5, units.GiB},
		"v1, from above": {v1, map[string]string{"memory/b/memory.limit_in_bytes": "1073741824\n", "memory/b/c/memory.limit_in_bytes": none}, "3:memory:/b/c\n", units.Unlimited, units.GiB},
		"v1, a container": {v1, map[string]string{"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000", "memory/memory.limit_in_bytes": "536870912\n"},
			"2:cpu:/docker/0a1b\n3:memory:/docker/0a1b\n", 2, 512 * units.MiB},
		"v2, no bound": {v2, map[string]string{"a/cpu.max": "max 100000\n", "a/memory.max": "max\n"}, "0::/a\n", units.Unlimited, 0},
		"v2, the least of all": {v2, map[string]string{"a/cpu.max": "400000 100000\n", "a/b/cpu.max": "max 100000\n", "a/b/c/cpu.max": "50000 20000\n",
			"a/memory.max": "1073741824\n", "a/b/memory.max": "2147483648\n"}, "0::/a/b/c\n", 2.5, units.GiB},
		"v2, a container": {v2, map[string]string{"cpu.max": "300000 100000\n", "memory.max": "536870912\n"}, "0::/\n", 3, 512 * units.MiB},
		"v2, moved":       {v2, map[string]string{"cpu.max": "300000 100000\n"}, "0::/../elsewhere\n", 3, 0},
		"nothing":         {nil, nil, "", units.Unlimited, 0},
	} {
		root := t.TempDir()
		for _, files := range []map[string]string{c.base, c.files} {
			for file, text := range files {
				path := filepath.Join(root, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if cores, memory := allowed(root, []byte(c.groups)); cores != c.cores || memory != c.memory {
			t.Errorf("%s: %v, %v, want %v, %v", name, cores, memory, c.cores, c.memory)
		}
	}
}
