package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// A process's group is found by the kernel's list and by its members, wherever the mount
// begins; a group of that name which has not the process is another one.
func TestGroupOfAProcess(t *testing.T) {
	root := t.TempDir()
	for dir, procs := range map[string]string{"": "1\n2\n", "user.slice/x.service": "70\n7\n", "x.service": "8\n", "a:b": "9\n", "y/z": "77\n", "z": "6\n"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, procsFile), []byte(procs), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		list string
		pid  int
		want string
	}{
		{"9:pids:/\n4:memory:/\n1:cpu:/x.service\n0::/\n", 1, "."},
		{"4:memory:/user.slice/x.service\n1:cpu:/\n", 7, "user.slice/x.service"},
		{"4:memory:/user.slice/x.service\n", 8, "x.service"}, // The mount begins at user.slice.
		{"3:cpu,memory:/a:b\n", 9, "a:b"},
		{"3:cpu,memory:/docker/0a1b\n", 2, "."}, // The mount is the container's group.
		{"3:memory:/y/z\n", 6, "z"},
		{"3:memory:/y/z\n", 7, ""},
		{"0::/system.slice/memory\n2:hugetlb:/memory\n1:cpu:/x.service\n", 8, ""},
		{"", 1, ""},
	} {
		list := filepath.Join(t.TempDir(), "cgroup")
		if err := os.WriteFile(list, []byte(c.list), 0o600); err != nil {
			t.Fatal(err)
		}
		want := c.want
		if want != "" {
			want = filepath.Join(root, want)
		}
		if got := memoryGroupOf(root, list, c.pid); got != want {
			t.Errorf("%q, process %d: %q, want %q", c.list, c.pid, got, want)
		}
	}
	if got := memoryGroupOf(root, filepath.Join(root, "none"), 1); got != "" {
		t.Errorf("without a list: %q", got)
	}
}
