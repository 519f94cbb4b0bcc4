package cgroup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// ramDisk is a block device that a virtual machine without disks has (test/e2e/vm).
const ramDisk = "/dev/ram0"

// memoryDir is g's directory in the memory controller's tree; the test is skipped where it has
// none.
func memoryDir(t *testing.T, g *cgroup.Group) string {
	t.Helper()
	for _, file := range g.JoinFiles() {
		for _, name := range []string{"memory.limit_in_bytes", "memory.max"} {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), name)); err == nil {
				return filepath.Dir(file)
			}
		}
	}
	t.Skip("needs a memory controller in which this process may make groups")
	return ""
}

// limitOf is g's memory limit as the kernel shows it.
func limitOf(t *testing.T, g *cgroup.Group) string {
	t.Helper()
	dir := memoryDir(t, g)
	data, err := os.ReadFile(filepath.Join(dir, "memory.max"))
	if errors.Is(err, os.ErrNotExist) {
		data, err = os.ReadFile(filepath.Join(dir, "memory.limit_in_bytes"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// noSwap checks that g may have none beside its limit, where the machine can swap.
func noSwap(t *testing.T, g *cgroup.Group) {
	t.Helper()
	for file, want := range map[string]string{"memory.swap.max": "0", "memory.memsw.limit_in_bytes": limitOf(t, g)} {
		data, err := os.ReadFile(filepath.Join(memoryDir(t, g), file))
		if err == nil && strings.TrimSpace(string(data)) != want {
			t.Errorf("%s is %q beside a limit of %s", file, data, limitOf(t, g))
		}
	}
}

// eats is a script that has a process hold about so many MiB of its own.
func eats(mib int) string {
	return fmt.Sprintf("x=$(head -c %d /dev/zero | tr '\\0' x); y=$x", mib<<19)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// holding runs a script in g, and returns when that is through, with what g has then; its
// process goes on, and is not replaced by its last program.
func holding(t *testing.T, g *cgroup.Group, script string) (*exec.Cmd, cgroup.MemoryUse) {
	t.Helper()
	through := filepath.Join(t.TempDir(), "through")
	member := shellIn(t, g, fmt.Sprintf("%s; : > %s; sleep 600; :", script, through))
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !exists(through) {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("the script is not through")
		}
	}
	use, err := g.Memory()
	if err != nil {
		t.Fatal(err)
	}
	return member, use
}

// onDisk is something to read of which the kernel keeps size in its page cache, and has nothing there yet.
func onDisk(t *testing.T, size units.Bytes) string {
	t.Helper()
	if disk, err := os.Open(ramDisk); err == nil {
		// The kernel drops what it has of a device when nobody has it open.
		t.Cleanup(func() { _ = disk.Close() })
		return ramDisk
	}
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var kind unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &kind); err != nil || kind.Type == unix.TMPFS_MAGIC {
		t.Skipf("needs files on a disk: %v", err)
	}
	piece := make([]byte, mib)
	for range int(size / mib) {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		t.Fatal(err)
	}
	return path
}

// alive reports whether a process has not ended.
func alive(cmd *exec.Cmd) bool { return cmd.Process.Signal(syscall.Signal(0)) == nil }

// The kernel takes the limit, counts what a process has, and is not asked to take that away.
func TestRealMemoryLimit(t *testing.T) {
	g := realGroup(t)
	limitOf(t, g)
	if got := g.MemoryLimit(); got != 0 {
		t.Errorf("a new group has a limit of %v", got)
	}
	if err := g.RaiseMemory(512 * mib); err != nil {
		t.Fatal(err)
	}
	if got := limitOf(t, g); got != "536870912" || g.MemoryLimit() != 512*mib {
		t.Errorf("limit %s, %v", got, g.MemoryLimit())
	}
	noSwap(t, g)
	member, full := holding(t, g, eats(100))
	if full.Resident < 90*mib || full.Charged > 512*mib {
		t.Errorf("of 100 MiB it has %+v", full)
	}
	g.AimMemory(16 * mib)
	if err := g.LowerMemory(); err != nil {
		t.Fatal(err)
	}
	use, err := g.Memory()
	if limit := g.MemoryLimit(); err != nil || limit < full.Resident+cgroup.MemoryMargin || limit > 300*mib || use.Resident < full.Resident {
		t.Errorf("lowered to %v beside %+v, %+v before: %v", limit, use, full, err)
	}
	// A raise that comes before the lowering is not undone by it.
	g.AimMemory(16 * mib)
	if err := g.RaiseMemory(units.GiB); err != nil {
		t.Fatal(err)
	}
	if err := g.LowerMemory(); err != nil {
		t.Fatal(err)
	}
	if got := limitOf(t, g); got != "1073741824" || g.MemoryLimit() != units.GiB {
		t.Errorf("after a raise: %s, %v", got, g.MemoryLimit())
	}
	noSwap(t, g)
	if kills, err := g.MemoryKills(); kills != 0 || err != nil || !alive(member) {
		t.Errorf("%d were killed, %v", kills, err)
	}
}

// lag is by how much the kernel's counters of a group may be behind: each CPU adds what it has
// counted from time to time.
const lag = 8 * mib

// Page cache is given up when the limit comes down to what the processes need; they go on.
func TestRealMemoryLimitTakesPageCache(t *testing.T) {
	g := realGroup(t)
	memoryDir(t, g)
	const cached = 128 * mib
	path := onDisk(t, cached)
	if err := g.RaiseMemory(512 * mib); err != nil {
		t.Fatal(err)
	}
	member, full := holding(t, g, eats(50)+fmt.Sprintf("; head -c %d %s >/dev/null", int64(cached), path))
	if full.Resident < 45*mib || full.Cache < cached-lag {
		t.Fatalf("of 50 MiB and %v of a file it has %+v", cached, full)
	}
	aim := full.Needed + cgroup.MemoryMargin + 8*mib
	g.AimMemory(aim)
	if err := g.LowerMemory(); err != nil {
		t.Fatal(err)
	}
	use, err := g.Memory()
	if limit := g.MemoryLimit(); err != nil || limit < full.Resident+cgroup.MemoryMargin || limit > full.Charged-16*mib || use.Charged > limit {
		t.Errorf("lowered to %v, wanted %v, of %+v to %+v: %v", limit, aim, full, use, err)
	}
	if use.Cache > full.Cache-16*mib || use.Resident < full.Resident-lag {
		t.Errorf("of %+v there is %+v", full, use)
	}
	if kills, err := g.MemoryKills(); kills != 0 || err != nil || !alive(member) {
		t.Errorf("%d were killed, %v", kills, err)
	}
}

// Who takes more than the limit is killed, and that is counted; a neighbour is not.
func TestRealMemoryOverTheLimit(t *testing.T) {
	h := cgrouptest.Real(t)
	g, neighbour := group(t, h, "app-1-1"), group(t, h, "app-2-1")
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	memoryDir(t, g)
	if err := errors.Join(g.RaiseMemory(64*mib), neighbour.RaiseMemory(64*mib)); err != nil {
		t.Fatal(err)
	}
	beside := shellIn(t, neighbour, "sleep 600")
	// One process alone, of some 256 MiB: of several the kernel may kill a second one before it has
	// what the first one had.
	err := shellIn(t, g, "x=x i=0; while [ $i -lt 28 ]; do x=$x$x i=$((i+1)); done; exec sleep 600").Wait()
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended with %v", err)
	}
	if kills, err := g.MemoryKills(); kills != 1 || err != nil {
		t.Errorf("%d were killed, %v", kills, err)
	}
	if kills, err := neighbour.MemoryKills(); kills != 0 || err != nil || !alive(beside) {
		t.Errorf("%d of the neighbour's were killed, %v", kills, err)
	}
}

// In v1 groups with limits are made below this process's own, which goes on to count them; and
// those that a node controller in another group has made keep theirs.
func TestRealMemoryGroupsAreBelowTheOwnOne(t *testing.T) {
	h := cgrouptest.Real(t)
	if h.Version() != cgroup.V1 {
		t.Skip("needs cgroup v1: in v2 all controllers have one tree")
	}
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	g := group(t, h, "app-1-1")
	dir := memoryDir(t, g)
	above := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	procs, err := os.ReadFile(filepath.Join(above, "cgroup.procs"))
	if err != nil || !strings.Contains(string(procs), fmt.Sprintf("%d\n", os.Getpid())) {
		t.Fatalf("%s is not this process's group: %v", above, err)
	}
	// An executor of a node controller that was in the group "elsewhere".
	elsewhere := filepath.Join(above, "pacer-test-elsewhere", strings.TrimPrefix(dir, above+"/"))
	old := strings.Replace(elsewhere, "app-1-1", "app-2-1", 1)
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(filepath.Join(above, "pacer-test-elsewhere")) })
	files := group(t, h, "app-2-1").JoinFiles()
	here := len(files) - 1 // The memory controller's.
	if err := os.Remove(filepath.Dir(files[here])); err != nil {
		t.Fatal(err)
	}
	files[here] = filepath.Join(old, "cgroup.procs")
	var join strings.Builder
	for _, file := range files {
		fmt.Fprintf(&join, "echo $$ > %s || exit 1; ", file)
	}
	shell(t, join.String()+"echo there; exec sleep 600")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	taken := group(t, h, "app-2-1")
	if got := memoryDir(t, taken); got != old {
		t.Errorf("its limit is at %s, it runs in %s", got, old)
	}
	if err := taken.RaiseMemory(512 * mib); err != nil {
		t.Fatal(err)
	}
	if got := limitOf(t, taken); got != "536870912" {
		t.Errorf("limit %s", got)
	}
	if err := taken.Remove(context.Background()); err != nil {
		t.Error(err)
	}
	if made := filepath.Dir(filepath.Dir(old)); exists(made) {
		t.Errorf("%s is left", made)
	}
}

// An engine makes the group of a container below the top of the tree, and removes it with its count. What was
// watched tells of a kill after that, and of none where there was none.
func TestRealMemoryOfAContainerThatIsGone(t *testing.T) {
	h := cgrouptest.Real(t)
	top := filepath.Join(cgroup.DefaultRoot, "memory")
	if h.Version() != cgroup.V1 || !exists(top) {
		t.Skip("needs cgroup v1 with memory: in v2 the group counts what is inside")
	}
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	for script, want := range map[string]int64{"exec sleep 0": 0, "x=x i=0; while [ $i -lt 28 ]; do x=$x$x i=$((i+1)); done": 1} {
		g := group(t, h, fmt.Sprintf("app-%d-1", want))
		parent := filepath.Join(top, g.Path())
		inside := filepath.Join(parent, "c0ffee")
		t.Cleanup(func() {
			for dir := parent; dir != top && unix.Rmdir(dir) == nil; {
				dir = filepath.Dir(dir)
			}
		})
		if err := errors.Join(os.MkdirAll(inside, 0o755), os.WriteFile(filepath.Join(inside, "memory.limit_in_bytes"), []byte("67108864"), 0),
			g.LookInside()); err != nil {
			t.Fatal(err)
		}
		if err := shell(t, "echo $$ > "+inside+"/cgroup.procs || exit 1; echo there; "+script).Wait(); (err != nil) != (want > 0) {
			t.Errorf("it ended with %v", err)
		}
		if kills, err := g.MemoryKills(); kills != want || err != nil {
			t.Errorf("%d were killed, %v, want %d", kills, err, want)
		}
		if err := unix.Rmdir(inside); err != nil {
			t.Fatal(err)
		}
		await(t, "the end of the group", func() bool {
			kills, err := g.MemoryKills()
			return kills == want && err == nil
		})
	}
}
