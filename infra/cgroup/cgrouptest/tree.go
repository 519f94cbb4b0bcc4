package cgrouptest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Layout is one of the ways in which a machine has its cgroups.
type Layout string

// The layouts that package cgroup knows.
const (
	V1Separate Layout = "v1"
	V1Joined   Layout = "v1-joined"
	V2         Layout = "v2"
)

// Layouts are all of them.
func Layouts() []Layout { return []Layout{V1Separate, V1Joined, V2} }

// Tree is a fake cgroup root.
type Tree struct {
	// Root is what cgroup.Open takes.
	Root   string
	layout Layout
}

// New makes a tree in a temporary directory of t.
func New(t testing.TB, layout Layout) *Tree {
	t.Helper()
	tree := &Tree{Root: t.TempDir(), layout: layout}
	switch layout {
	case V2:
		tree.file(t, "cgroup.controllers", "cpuset cpu io memory pids\n")
		tree.file(t, "cgroup.subtree_control", "")
	case V1Joined:
		tree.file(t, "cpu,cpuacct/cpu.shares", "1024\n")
		tree.file(t, "cpu,cpuacct/cpuacct.usage", "0\n")
		for _, link := range []string{"cpu", "cpuacct"} {
			if err := os.Symlink("cpu,cpuacct", filepath.Join(tree.Root, link)); err != nil {
				t.Fatal(err)
			}
		}
	case V1Separate:
		tree.file(t, "cpu/cpu.shares", "1024\n")
		tree.file(t, "cpuacct/cpuacct.usage", "0\n")
	}
	return tree
}

// NewWithMemory makes a tree that has a memory controller, too.
func NewWithMemory(t testing.TB, layout Layout) *Tree {
	t.Helper()
	tree := New(t, layout)
	if layout == V2 {
		tree.file(t, "cgroup.subtree_control", "cpu memory\n")
	} else {
		tree.file(t, "memory/memory.limit_in_bytes", "9223372036854771712\n")
	}
	return tree
}

// Hold sets what a group has of memory: anonymous memory, and page cache.
func (tree *Tree) Hold(t testing.TB, group string, anonymous, cache units.Bytes) {
	t.Helper()
	usage, keys := "memory.usage_in_bytes", "rss %d\ncache %d\ninactive_file %d\n"
	if tree.layout == V2 {
		usage, keys = "memory.current", "anon %d\nfile %d\ninactive_file %d\n"
	}
	err := tree.write(group, "memory.stat", fmt.Sprintf(keys, int64(anonymous), int64(cache), int64(cache)))
	if err == nil {
		err = tree.write(group, usage, fmt.Sprintf("%d\n", int64(anonymous+cache)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (tree *Tree) file(t testing.TB, name, content string) {
	t.Helper()
	path := filepath.Join(tree.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Path returns where a file of a group is: group is relative to the root, as in
// "pacer/node1/app-1-1", and file one of the kernel's names.
func (tree *Tree) Path(group, file string) string {
	switch {
	case tree.layout == V2:
		return filepath.Join(tree.Root, group, file)
	case strings.HasPrefix(file, "cpuacct."):
		return filepath.Join(tree.Root, "cpuacct", group, file)
	case strings.HasPrefix(file, "memory."):
		return filepath.Join(tree.Root, "memory", group, file)
	}
	return filepath.Join(tree.Root, "cpu", group, file)
}

// Read returns a file of a group without the white space around it, "" if it
// does not exist.
func (tree *Tree) Read(t testing.TB, group, file string) string {
	t.Helper()
	data, err := os.ReadFile(tree.Path(group, file))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// Use sets what a group has used and how long it was throttled in all.
func (tree *Tree) Use(t testing.TB, group string, used units.Work, throttled time.Duration) {
	t.Helper()
	if err := tree.use(group, used, throttled); err != nil {
		t.Fatal(err)
	}
}

func (tree *Tree) use(group string, used units.Work, throttled time.Duration) error {
	if tree.layout == V2 {
		return tree.write(group, "cpu.stat", fmt.Sprintf(
			"usage_usec %d\nuser_usec 0\nsystem_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec %d\n",
			int64(float64(used)*1e6), throttled.Microseconds()))
	}
	if err := tree.write(group, "cpuacct.usage", strconv.FormatInt(int64(float64(used)*1e9), 10)+"\n"); err != nil {
		return err
	}
	return tree.write(group, "cpu.stat", fmt.Sprintf("nr_periods 0\nnr_throttled 0\nthrottled_time %d\n",
		throttled.Nanoseconds()))
}

// SetQuota writes a quota as another program would.
func (tree *Tree) SetQuota(t testing.TB, group string, us, period int64) {
	t.Helper()
	var err error
	switch {
	case tree.layout != V2:
		if err = tree.write(group, "cpu.cfs_period_us", strconv.FormatInt(period, 10)+"\n"); err == nil {
			err = tree.write(group, "cpu.cfs_quota_us", strconv.FormatInt(us, 10)+"\n")
		}
	case us < 0:
		err = tree.write(group, "cpu.max", fmt.Sprintf("max %d\n", period))
	default:
		err = tree.write(group, "cpu.max", fmt.Sprintf("%d %d\n", us, period))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// write replaces a file's content in place: package cgroup keeps it open.
func (tree *Tree) write(group, file, content string) error {
	path := tree.Path(group, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
