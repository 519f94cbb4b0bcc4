package attached_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/infra/executor/conformance"
)

func (m *machine) putBack() error {
	_, err := attached.PutBack(m.state, m.tree.Root, "b1")
	return err
}

// Fake executors in fake groups.
func TestConformance(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		conformance.RunFound(t, func(t *testing.T) conformance.Found {
			m := newMachine(t, layout)
			return conformance.Found{
				New: func() executor.Runtime { return m.runtime(t) }, Spec: spec,
				Spawn: func(t *testing.T, id api.ExecutorID) (int, func()) {
					n, err := strconv.Atoi(string(id))
					if err != nil {
						t.Fatal(err)
					}
					pid, group := 4200+n, yarnGroup+string(id)
					m.tree.SetQuota(t, group, 150000, 100000)
					m.tree.Use(t, group, 0, 0)
					m.run(t, process{pid: pid, parent: 1, session: pid, args: command(yarnClass, id), groups: m.in(group, true)})
					m.kernelHas(t, group, strconv.Itoa(pid)+"\n")
					return pid, func() {
						if err := os.RemoveAll(filepath.Join(m.proc, strconv.Itoa(pid))); err != nil {
							t.Fatal(err)
						}
					}
				},
				AsFound: func(t *testing.T) {
					text := m.tree.Read(t, yarnGroup+"1", "cpu.cfs_quota_us") + " " + m.tree.Read(t, yarnGroup+"1", "cpu.cfs_period_us")
					if layout == cgrouptest.V2 {
						text = m.tree.Read(t, yarnGroup+"1", "cpu.max")
					}
					if text != "150000 100000" {
						t.Errorf("%s are in force", text)
					}
				},
			}
		})
	}
}

// realMachine is this machine's /proc and its cgroups.
func realMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{tree: &cgrouptest.Tree{Root: cgroup.DefaultRoot}, proc: "/proc", state: t.TempDir()}
	groups := cgrouptest.Real(t)
	if groups.Version() != cgroup.V1 {
		t.Skip("needs cgroups of v1")
	}
	m.others = cgrouptest.RealOthers(t)
	return m
}

// realRuntime is a node controller's on it.
func (m *machine) realRuntime(t *testing.T) *attached.Runtime {
	t.Helper()
	r, err := attached.New(attached.Config{Groups: m.others, Parent: fmt.Sprintf("pacer-test-%d/node", os.Getpid()), State: m.state,
		Boot: "b1", CPUs: 1024})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// groupsOf are the groups of a process in the trees of the CPU, and of memory.
func groupsOf(t *testing.T, pid int) (cpu, memory []string) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for controller := range strings.SplitSeq(fields[1], ",") {
			switch controller {
			case "cpu", "cpuacct":
				cpu = append(cpu, fields[2])
			case "memory":
				memory = append(memory, fields[2])
			}
		}
	}
	return cpu, memory
}

// children are those of a process, whichever of its threads has started them.
func children(t *testing.T, pid int) (list []int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("process %d has the threads %v: %v", pid, threads, err)
	}
	for _, thread := range threads {
		text, _ := os.ReadFile(thread) // A thread may end.
		for _, f := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(f)
			list = append(list, child)
		}
	}
	return list
}

// The default executor of YARN on the kernel's own groups: the tree moves in the trees of the CPU, memory
// stays, and all is where it was when it is let go, by whom ever.
func TestRealConformance(t *testing.T) {
	conformance.RunFound(t, func(t *testing.T) conformance.Found {
		m, spawned := realMachine(t), []int{}
		before, _ := groupsOf(t, os.Getpid())
		return conformance.Found{
			New: func() executor.Runtime { return m.realRuntime(t) }, Spec: spec,
			Spawn: func(t *testing.T, id api.ExecutorID) (int, func()) {
				pid, _, end := spawn(t, id)
				spawned = append(spawned, pid)
				t.Cleanup(func() {
					end()
					if _, err := attached.PutBack(m.state, "", "b1"); err != nil {
						t.Error(err)
					}
				})
				return pid, func() { end(); spawned = slices.DeleteFunc(spawned, func(p int) bool { return p == pid }) }
			},
			AsFound: func(t *testing.T) {
				for _, pid := range spawned {
					for _, id := range append(children(t, pid), pid) {
						if cpu, _ := groupsOf(t, id); !slices.Equal(cpu, before) {
							t.Errorf("process %d is in %v, want %v", id, cpu, before)
						}
					}
				}
			},
		}
	})
}

func TestRealMove(t *testing.T) {
	m := realMachine(t)
	pid, _, end := spawn(t, "1")
	_, memory := groupsOf(t, pid)
	r := m.realRuntime(t)
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	x := r.Of(h)
	if x.Group == nil || !x.Unguarded || x.Unpaced != "" {
		t.Fatalf("held as %+v", x)
	}
	tree := append(children(t, pid), pid)
	if len(tree) != 2 {
		t.Fatalf("tree %v", tree)
	}
	own := fmt.Sprintf("/pacer-test-%d/node/%s-1", os.Getpid(), app)
	for _, id := range tree {
		cpu, mem := groupsOf(t, id)
		if !slices.Equal(cpu, []string{own, own}) || !slices.Equal(mem, memory) {
			t.Errorf("process %d is in %v and %v", id, cpu, mem)
		}
	}
	weight, err := os.ReadFile(filepath.Join(cgroup.DefaultRoot, "cpu", own, "cpu.shares"))
	if err != nil || strings.TrimSpace(string(weight)) != "2048" || x.Weight != 2 {
		t.Errorf("weight %s, %v, %v", weight, x.Weight, err)
	}
	if err := x.Group.SetQuota(0.5); err != nil {
		t.Error(err)
	}
	if q, err := x.Group.Quota(); err != nil || q < 0.499 || q > 0.501 {
		t.Errorf("quota %v, %v", q, err)
	}
	if used, _, err := x.Group.Usage(); err != nil || used < 0 {
		t.Errorf("used %v, %v", used, err)
	}
	// The guard: nobody of the node controller is left.
	if n, err := attached.PutBack(m.state, "", "b1"); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, id := range tree {
		if cpu, _ := groupsOf(t, id); slices.Contains(cpu, own) {
			t.Errorf("process %d is in %v", id, cpu)
		}
	}
	if _, err := os.Stat(filepath.Join(cgroup.DefaultRoot, "cpu", own)); !os.IsNotExist(err) {
		t.Errorf("the group is left: %v", err)
	}
	end()
}

// A container of YARN's on the kernel's own groups, in the tree of the CPU alone as YARN makes it.
func TestRealContainer(t *testing.T) {
	m := realMachine(t)
	pid, _, end := spawn(t, "1")
	top := filepath.Join(cgroup.DefaultRoot, "cpu", fmt.Sprintf("pacer-test-%d-yarn", os.Getpid()))
	group := filepath.Join(top, "container_1700000000000_0001_01_000002")
	if err := os.MkdirAll(group, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end()
		for _, dir := range []string{group, top} { // As a NodeManager removes its own.
			err := os.Remove(dir)
			for try := 0; err != nil && try < 100; try++ {
				time.Sleep(10 * time.Millisecond)
				err = os.Remove(dir)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	file := func(name, value string) {
		t.Helper()
		if out, err := exec.Command("/bin/sh", "-c", "echo "+value+" > "+filepath.Join(group, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	want := func(what, quota, period string) {
		t.Helper()
		q, err := os.ReadFile(filepath.Join(group, "cpu.cfs_quota_us"))
		p, periodErr := os.ReadFile(filepath.Join(group, "cpu.cfs_period_us"))
		w, weightErr := os.ReadFile(filepath.Join(group, "cpu.shares"))
		if err = errors.Join(err, periodErr, weightErr); err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(string(q)) != quota || strings.TrimSpace(string(p)) != period || strings.TrimSpace(string(w)) != "2048" {
			t.Errorf("%s: %s in %s, weight %s, want %s in %s", what, q, p, w, quota, period)
		}
	}
	file("cpu.shares", "2048")
	file("cpu.cfs_period_us", "500000")
	file("cpu.cfs_quota_us", "1000000")
	for _, id := range append(children(t, pid), pid) {
		file("cgroup.procs", strconv.Itoa(id))
	}
	for _, how := range []string{"let go", "killed"} {
		r := m.realRuntime(t)
		h, err := r.Start(t.Context(), spec("1"))
		if err != nil {
			t.Fatal(err)
		}
		x := r.Of(h)
		if x.Group == nil || x.Group.Ceiling() != 2 || x.Unguarded {
			t.Fatalf("held as %+v", x)
		}
		if err := x.Group.SetQuota(0.3); err != nil {
			t.Error(err)
		}
		if cpu, _ := groupsOf(t, pid); !strings.HasSuffix(group, cpu[len(cpu)-1]) && !strings.HasSuffix(group, cpu[0]) {
			t.Errorf("it is in %v", cpu)
		}
		if how == "let go" {
			err = r.Stop(t.Context(), h)
		} else {
			_, err = attached.PutBack(m.state, "", "b1")
		}
		if err != nil {
			t.Error(err)
		}
		want(how, "1000000", "500000")
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("it was ended: %v", err)
	}
}

func TestAnotherApplicationsExecutorIsRefused(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true)})
	s := spec("1")
	s.CommandLine = attached.CommandLine(&api.Attach{App: sparkApp}, "1", "spark://CoarseGrainedScheduler@10.0.0.8:1")
	if _, err := m.runtime(t).Start(t.Context(), s); api.KindOf(err) != api.KindConflict || !strings.Contains(err.Error(), driver) {
		t.Errorf("error %v", err)
	}
}

// A process is held for one application, whoever says that it is another one's too, until it is let go.
func TestAProcessIsHeldOnce(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	m.tree.SetQuota(t, yarnGroup, 150000, 100000)
	m.tree.Use(t, yarnGroup, 0, 0)
	m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true)})
	r, second := m.runtime(t), spec("1")
	second.App = "app-of-another"
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(t.Context(), second); api.KindOf(err) != api.KindTransient || !strings.Contains(err.Error(), string(app)) {
		t.Errorf("error %v", err)
	}
	if err := r.Stop(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(t.Context(), second); err != nil {
		t.Error(err)
	}
}

// Who only hands the command line on is no executor, nor is a child that has it, and its parent's files, until it runs
// another program.
func TestTheJVMIsFoundAmongItsLaunchers(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	line := command(yarnClass, "1")
	for pid, args := range map[int][]string{
		4100: {"/bin/bash", "-c", strings.Join(line, " ")},
		4101: append([]string{"/usr/bin/tini", "-s", "--"}, line...),
		4243: line, 4242: line,
	} {
		m.run(t, process{pid: pid, parent: 1, session: 4100, args: args, groups: m.in("/", true), unproven: pid != 4242})
	}
	page, err := os.Readlink(filepath.Join(m.proc, "4242", "fd", "4"))
	if err != nil {
		t.Fatal(err)
	}
	m.opens(t, 4243, page)
	h, err := m.runtime(t).Start(t.Context(), spec("1"))
	if err != nil || h.PID != 4242 {
		t.Errorf("found %+v, %v", h, err)
	}
}

// The container's tree ends below the NodeManager, whose other containers stay where they are, also where
// it gives containers no sessions.
func TestTheContainersTree(t *testing.T) {
	for _, sessions := range []bool{true, false} {
		m := newMachine(t, cgrouptest.V1Separate)
		session := func(own int) int {
			if sessions {
				return own
			}
			return 4000
		}
		m.tree.Use(t, "/", 0, 0)
		for _, p := range []process{
			{pid: 4000, parent: 1, session: 4000, args: []string{"/usr/bin/java", "org.apache.hadoop.yarn.server.nodemanager.NodeManager"}},
			{pid: 4100, parent: 4000, session: session(4100), args: []string{"bash", "launch_container.sh"}},
			{pid: 4101, parent: 4100, session: session(4100), args: command(yarnClass, "1")},
			{pid: 4102, parent: 4101, session: session(4100), args: []string{"python3", "-m", "pyspark.daemon"}},
			{pid: 4103, parent: 4102, session: 4103, args: []string{"python3"}},
			{pid: 4104, parent: 4102, session: 4103, args: []string{"python3"}, state: "Z"},
			{pid: 4200, parent: 4000, session: session(4200), args: []string{"bash", "launch_container.sh"}},
			{pid: 4201, parent: 4200, session: session(4200), args: command(yarnClass, "2")},
		} {
			p.groups = m.in("/", true)
			m.run(t, p)
		}
		if _, err := m.runtime(t).Start(t.Context(), spec("1")); err != nil {
			t.Fatal(err)
		}
		got := m.tree.Read(t, parent+"/"+cgroup.GroupName(app, "1"), "cgroup.procs")
		if want := "4100\n4101\n4102\n4103"; got != want {
			t.Errorf("sessions %v: %q were moved, want %q", sessions, got, want)
		}
	}
}
