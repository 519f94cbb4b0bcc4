package cgroup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// What the kernel makes of what is written: the same of v1 and v2 (test/e2e/vm).

// stat returns a number of the group's cpu.stat.
func stat(t *testing.T, g *cgroup.Group, key string) int {
	t.Helper()
	_, rest, _ := strings.Cut("\n"+content(t, filepath.Join(filepath.Dir(g.JoinFiles()[0]), "cpu.stat")), "\n"+key+" ")
	text, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return n
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func usage(t *testing.T, g *cgroup.Group) units.Work {
	t.Helper()
	used, _, err := g.Usage()
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// passDown does what an engine does to the parent of its group: in v2 the group
// has the files of a controller only if its parent passes it down.
func passDown(t *testing.T, parent string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(parent, "cgroup.controllers")); err != nil {
		return
	}
	if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+cpu"), 0); err != nil {
		t.Fatal(err)
	}
}

const spin = "while :; do :; done"

// Two busy processes get the quota of each period that passes, and all they want
// once it is lifted. Periods are the kernel's own count: no clock is asked.
func TestRealQuotaIsKept(t *testing.T) {
	g := realGroup(t)
	const quota = 0.3
	set(t, g, quota)
	shellIn(t, g, spin)
	shellIn(t, g, spin)
	await(t, "40 periods", func() bool { return stat(t, g, "nr_periods") >= 40 })
	used, periods := usage(t, g), stat(t, g, "nr_periods")
	// A CPU may run on until its next tick, which the periods after pay for.
	if most := units.Work(1.2*quota*cgroup.Period.Seconds()*float64(periods+1) + 0.1); used > most {
		t.Errorf("%d periods used %v, want at most %v", periods, used, most)
	}
	held := stat(t, g, "nr_throttled")
	if held == 0 {
		t.Error("it was never held back")
	}
	set(t, g, units.Unlimited)
	held, used = stat(t, g, "nr_throttled"), usage(t, g)
	await(t, "use without quota", func() bool { return usage(t, g) > used+0.3 })
	if now := stat(t, g, "nr_throttled"); now != held {
		t.Errorf("without quota it was held back %d times", now-held)
	}
}

// On one CPU two busy groups get it in proportion to their weights.
func TestRealWeightIsKept(t *testing.T) {
	h := cgrouptest.Real(t)
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if allowed.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	heavy, light := group(t, h, "app-1-1"), group(t, h, "app-1-2")
	for g, weight := range map[*cgroup.Group]cgroup.Weight{heavy: 2, light: 0.2} {
		if err := g.SetWeight(weight); err != nil {
			t.Fatal(err)
		}
		if err := unix.SchedSetaffinity(shellIn(t, g, spin).Process.Pid, &one); err != nil {
			t.Fatal(err)
		}
	}
	heavyBefore, lightBefore := usage(t, heavy), usage(t, light)
	await(t, "use", func() bool { return usage(t, heavy)-heavyBefore+usage(t, light)-lightBefore > 0.6 })
	if a, b := usage(t, heavy)-heavyBefore, usage(t, light)-lightBefore; a < 3*b {
		t.Errorf("at ten times the weight %v against %v", a, b)
	}
}

func TestRealLift(t *testing.T) {
	parent := fmt.Sprintf("pacer-test-%d/lift", os.Getpid())
	h := cgrouptest.Real(t, parent)
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	g, free := group(t, h, "app-1-1"), group(t, h, "app-1-2")
	name, text := "cpu.cfs_quota_us", "15000"
	if h.Version() == cgroup.V2 {
		name, text = "cpu.max", "15000 100000"
	}
	inner := filepath.Join(container(t, g), name)
	set(t, g, 0.5)
	if err := os.WriteFile(inner, []byte(text), 0); err != nil {
		t.Fatal(err)
	}
	if lifted, err := cgroup.Lift("", parent); lifted != 2 || err != nil {
		t.Errorf("lifted %d, %v, want the group's and the one inside", lifted, err)
	}
	wantInForce(t, "lifted", g, units.Unlimited)
	wantInForce(t, "had none", free, units.Unlimited)
	if lifted, err := cgroup.Lift("", parent); lifted != 0 || err != nil {
		t.Errorf("again: %d, %v", lifted, err)
	}
}

// Below slices, as for an engine with the systemd driver: it puts the container
// where ContainerPath says, the slice's quota binds it, and all goes together.
func TestRealSlices(t *testing.T) {
	h := cgrouptest.Real(t, cgroup.SliceParent(fmt.Sprintf("test-%d", os.Getpid())))
	g := group(t, h, "app-1-1")
	slice, ok := g.Slice()
	if !ok {
		t.Fatalf("%s is no slice", g.Path())
	}
	scope := cgroup.ContainerPath(slice, "c0ffee")
	script := ""
	for _, file := range g.JoinFiles() {
		dir := filepath.Join(filepath.Dir(file), filepath.Base(scope))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		passDown(t, filepath.Dir(file))
		script += "echo $$ > " + strings.ReplaceAll(dir, `\`, `\\`) + "/cgroup.procs; "
	}
	// The shell is no member of the slice on the way: in v2 one that passes
	// controllers down takes no processes.
	cmd := shell(t, script+"echo there; "+spin)
	if err := g.LookInside(); err != nil {
		t.Fatal(err)
	}
	if of := content(t, fmt.Sprintf("/proc/%d/cgroup", cmd.Process.Pid)); !strings.Contains(of+"\n", ":"+scope+"\n") {
		t.Errorf("it is in\n%s\nwant %s", of, scope)
	}
	if pids, err := g.Procs(); err != nil || !slices.Contains(pids, cmd.Process.Pid) {
		t.Errorf("members %v, %v", pids, err)
	}
	set(t, g, 0.2)
	await(t, "the slice's quota binds", func() bool { return stat(t, g, "nr_throttled") > 0 })
	if names, err := h.Names(); err != nil || !slices.Equal(names, []string{"app-1-1"}) {
		t.Errorf("names %v, %v", names, err)
	}
	if err := g.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("its process ended with %v", err)
	}
	if _, err := os.Stat(filepath.Dir(g.JoinFiles()[0])); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the slice is still there: %v", err)
	}
}
