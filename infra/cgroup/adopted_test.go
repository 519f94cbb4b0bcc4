package cgroup_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const containerGroup = "/hadoop-yarn/container_1700000000000_0001_01_000002"

// foreign is a group of another manager's in a fake tree.
type foreign struct {
	tree   *cgrouptest.Tree
	layout cgrouptest.Layout
	others *cgroup.Others
	kept   cgroup.Hold
}

func newForeign(t *testing.T, layout cgrouptest.Layout, us, period int64) *foreign {
	t.Helper()
	f := &foreign{tree: cgrouptest.New(t, layout), layout: layout}
	f.tree.SetQuota(t, containerGroup, us, period)
	f.tree.Use(t, containerGroup, 7, 0)
	f.open(t)
	t.Cleanup(func() {
		if err := f.others.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *foreign) open(t *testing.T) {
	t.Helper()
	var err error
	if f.others, err = cgroup.OpenOthers(f.tree.Root); err != nil {
		t.Fatal(err)
	}
}

// adopt holds the group as it was found, or as it was kept.
func (f *foreign) adopt(t *testing.T) *cgroup.Adopted {
	t.Helper()
	if f.kept.CPU == "" {
		var err error
		if f.kept, err = f.others.Found(containerGroup); err != nil {
			t.Fatal(err)
		}
	}
	a, err := f.others.Adopt(f.kept, func(h cgroup.Hold) error { f.kept = h; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// inForce is what the files say: the quota in us, -1 for none, and the period.
func (f *foreign) inForce(t *testing.T) (us, period int64) {
	t.Helper()
	fields := strings.Fields(f.tree.Read(t, containerGroup, "cpu.max"))
	if f.layout != cgrouptest.V2 {
		fields = []string{f.tree.Read(t, containerGroup, "cpu.cfs_quota_us"), f.tree.Read(t, containerGroup, "cpu.cfs_period_us")}
	}
	us, err := strconv.ParseInt(strings.Replace(fields[0], "max", "-1", 1), 10, 64)
	if period, _ = strconv.ParseInt(fields[1], 10, 64); err != nil {
		t.Fatal(err)
	}
	return us, period
}

func (f *foreign) wantFound(t *testing.T, what string, us, period int64) {
	t.Helper()
	if gotUs, gotPeriod := f.inForce(t); gotUs != us || gotPeriod != period {
		t.Errorf("%s: %d in %d are in force, want %d in %d", what, gotUs, gotPeriod, us, period)
	}
}

// cores of what the files say.
func (f *foreign) cores(t *testing.T) units.Cores {
	t.Helper()
	us, period := f.inForce(t)
	if us < 0 {
		return units.Unlimited
	}
	return units.Cores(float64(us) / float64(period))
}

func TestAnAdoptedGroupHasBackWhatWasFound(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		for _, found := range [][2]int64{{-1, 100000}, {1000000, 500000}, {150000, 100000}, {30000, 100000}, {-1, 50000}} {
			f := newForeign(t, layout, found[0], found[1])
			a := f.adopt(t)
			if used, _, err := a.Usage(); err != nil || used != 7 {
				t.Errorf("%s: used %v, %v", layout, used, err)
			}
			for _, quota := range []units.Cores{0.25, 0.1, 0.2} {
				if err := a.SetQuota(quota); err != nil {
					t.Fatal(err)
				}
				got, err := a.Quota()
				if inForce := f.cores(t); err != nil || math.Abs(float64(got-quota)) > 0.001 || inForce != got {
					t.Errorf("%s, %v: quota %v, read %v, %v in force, %v", layout, found, quota, got, inForce, err)
				}
			}
			for _, quota := range []units.Cores{units.Unlimited, a.Ceiling(), 100} {
				if err := errors.Join(a.SetQuota(0.2), a.SetQuota(quota)); err != nil {
					t.Fatal(err)
				}
				if a.Ceiling().IsUnlimited() && quota == 100 {
					continue
				}
				f.wantFound(t, fmt.Sprint(layout, " after ", quota), found[0], found[1])
				if got, err := a.Quota(); err != nil || !got.IsUnlimited() {
					t.Errorf("%s: quota %v, %v, want what was found", layout, got, err)
				}
			}
			if err := errors.Join(a.SetQuota(0.2), a.Release()); err != nil {
				t.Fatal(err)
			}
			f.wantFound(t, string(layout)+" let go", found[0], found[1])
		}
	}
}

func TestWhatItsManagerWritesIsTheNewCeiling(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		f := newForeign(t, layout, 200000, 100000)
		a := f.adopt(t)
		if err := a.SetQuota(0.5); err != nil {
			t.Fatal(err)
		}
		f.tree.SetQuota(t, containerGroup, 80000, 100000)
		if q, err := a.Quota(); err != nil || !q.IsUnlimited() || a.Ceiling() != 0.8 || f.kept.Quota != 80000 {
			t.Errorf("%s: quota %v, %v, ceiling %v, kept %+v", layout, q, err, a.Ceiling(), f.kept)
		}
		if err := a.SetQuota(1.5); err != nil {
			t.Fatal(err)
		}
		f.wantFound(t, string(layout)+" above the ceiling", 80000, 100000)
		// Written without that anybody has read it since: the next write heeds it all the same.
		if err := a.SetQuota(0.5); err != nil {
			t.Fatal(err)
		}
		f.tree.SetQuota(t, containerGroup, 30000, 100000)
		if err := errors.Join(a.SetQuota(0.5), a.Release()); err != nil {
			t.Fatal(err)
		}
		f.wantFound(t, string(layout)+" let go", 30000, 100000)
	}
}

func TestAWriteWaitsForWhatIsToBePutBack(t *testing.T) {
	f := newForeign(t, cgrouptest.V1Separate, 200000, 100000)
	full := errors.New("no space")
	hold, err := f.others.Found(containerGroup)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.others.Adopt(hold, func(cgroup.Hold) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	var fault error
	a, err := f.others.Adopt(hold, func(cgroup.Hold) error { return fault })
	if err != nil {
		t.Fatal(err)
	}
	fault = full
	f.tree.SetQuota(t, containerGroup, 80000, 100000)
	if err := a.SetQuota(0.5); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	f.wantFound(t, "nothing kept", 80000, 100000)
}

func TestTheGroupsAboveBoundAnAdoptedOne(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		f := newForeign(t, layout, -1, 100000)
		f.tree.SetQuota(t, "/hadoop-yarn", 120000, 100000)
		a := f.adopt(t)
		if err := a.SetQuota(1.5); err != nil || a.Ceiling() != 1.2 {
			t.Errorf("%s: %v, ceiling %v", layout, err, a.Ceiling())
		}
		f.wantFound(t, string(layout), -1, 100000)
	}
}

func TestOneNodeControllerAttachesToAMachine(t *testing.T) {
	f := newForeign(t, cgrouptest.V2, -1, 100000)
	if _, err := cgroup.OpenOthers(f.tree.Root); api.KindOf(err) != api.KindConflict {
		t.Errorf("error %v", err)
	}
}

// Whoever locks what everybody may open keeps no node controller out, and the claim is open to its owner alone.
func TestAttackTheClaimOfAMachine(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		tree := cgrouptest.New(t, layout)
		dirs, err := filepath.Glob(filepath.Join(tree.Root, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range append(dirs, tree.Root) {
			if f, err := os.Open(dir); err == nil {
				defer f.Close()
				if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 2 { // The second one comes when the first one has gone.
			o, err := cgroup.OpenOthers(tree.Root)
			if err != nil {
				t.Fatal(err)
			}
			claims, err := filepath.Glob(filepath.Join(tree.Root, "pacer-attached"))
			more, _ := filepath.Glob(filepath.Join(tree.Root, "*", "pacer-attached"))
			if claims = append(claims, more...); err != nil || len(claims) == 0 { // Joined trees have several names.
				t.Fatalf("claims %v, %v", claims, err)
			}
			if st, err := os.Stat(claims[0]); err != nil || st.Mode().Perm() != 0o700 {
				t.Errorf("%v: %v", st.Mode(), err)
			}
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(claims[0]); !os.IsNotExist(err) {
				t.Errorf("the claim is left: %v", err)
			}
		}
	}
}

// Whatever is written by whom and killed when: the quota is one of the manager's, or between nothing
// and the newest of the manager's that anybody could have seen; and in the end the manager's newest
// one is in force, to the letter.
func TestAnAdoptedGroupSurvivesAnything(t *testing.T) {
	values := [][2]int64{{-1, 100000}, {200000, 100000}, {50000, 100000}, {1000000, 700000}, {12000, 50000}, {30000, 100000}}
	for _, layout := range cgrouptest.Layouts() {
		rapid.Check(t, func(rt *rapid.T) {
			first := rapid.SampledFrom(values).Draw(rt, "found")
			f := newForeign(t, layout, first[0], first[1])
			theirs, a := first, f.adopt(t)
			for range rapid.IntRange(1, 25).Draw(rt, "steps") {
				switch rapid.SampledFrom([]string{"quota", "lift", "foreign", "kill", "guard", "let go"}).Draw(rt, "what") {
				case "quota":
					if err := a.SetQuota(units.Cores(rapid.Float64Range(0, 4).Draw(rt, "cores"))); err != nil {
						rt.Fatal(err)
					}
				case "lift":
					if err := a.SetQuota(units.Unlimited); err != nil {
						rt.Fatal(err)
					}
				case "foreign":
					theirs = rapid.SampledFrom(values).Draw(rt, "theirs")
					f.tree.SetQuota(t, containerGroup, theirs[0], theirs[1])
				case "kill":
					if err := a.Close(); err != nil {
						rt.Fatal(err)
					}
					if f.layout != cgrouptest.V2 && rapid.Bool().Draw(rt, "between two writes") {
						us, period := f.inForce(t)
						// The order is the one by way of less.
						if us%100 == 97 && period == 99991 && us*period < f.kept.Quota*f.kept.Period {
							f.tree.SetQuota(t, containerGroup, us, f.kept.Period)
						}
					}
					a = f.adopt(t)
				case "guard":
					if err := errors.Join(a.Close(), f.kept.PutBack(f.tree.Root)); err != nil {
						rt.Fatal(err)
					}
					f.wantFound(t, "after the guard", theirs[0], theirs[1])
					a = f.adopt(t)
				case "let go":
					if err := a.Release(); err != nil {
						rt.Fatal(err)
					}
					f.wantFound(t, "let go", theirs[0], theirs[1])
					f.kept = cgroup.Hold{}
					a = f.adopt(t)
				}
				most := units.Unlimited
				if theirs[0] > 0 {
					most = units.Cores(float64(theirs[0]) / float64(theirs[1]))
				}
				if got := f.cores(t); got > most || got <= 0 {
					rt.Fatalf("%v cores are in force, of %v", got, most)
				}
			}
			if err := errors.Join(a.Close(), f.kept.PutBack(f.tree.Root)); err != nil {
				rt.Fatal(err)
			}
			f.wantFound(t, "in the end", theirs[0], theirs[1])
		})
	}
}

// FuzzMembership: whatever a /proc/PID/cgroup says, the groups lie below the trees.
func FuzzMembership(f *testing.F) {
	f.Add("4:memory:/\n1:cpu,cpuacct:/hadoop-yarn/container_1_1_1_1\n0::/\n")
	f.Add("0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-ab.scope\n")
	f.Add("0::/../../kubepods/pod1/ab\n")
	f.Add("0::..\"epods/pod1/ab") // The name of a group may begin with two dots.
	f.Fuzz(func(t *testing.T, text string) {
		for _, layout := range cgrouptest.Layouts() {
			o, err := cgroup.OpenOthers(cgrouptest.New(t, layout).Root)
			if err != nil {
				t.Fatal(err)
			}
			m, err := o.Membership([]byte(text))
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				continue
			}
			for _, group := range []string{m.CPU, m.Acct} {
				if !filepath.IsAbs(group) || filepath.Clean(group) != group { // Clean leaves no ".." behind a root.
					t.Errorf("%q of %q", group, text)
				}
			}
		}
	})
}

// realForeign makes a group in the machine's own trees that another manager could have made, with a
// process in it.
func realForeign(t *testing.T, o *cgroup.Others, trees ...string) (group string, pid int) {
	t.Helper()
	group = fmt.Sprintf("/pacer-test-%d-others", os.Getpid())
	if _, err := os.Stat(filepath.Join(cgroup.DefaultRoot, "cpu", "cpu.shares")); err != nil {
		t.Skipf("needs cgroups of v1: %v", err)
	}
	cmd := exec.Command("/bin/sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dirs []string
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for _, dir := range dirs {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		}
	})
	for _, tree := range trees {
		dir := filepath.Join(cgroup.DefaultRoot, tree, group)
		if err := os.Mkdir(dir, 0o755); errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
			t.Skipf("needs cgroups of v1: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
	return group, cmd.Process.Pid
}

func readReal(t *testing.T, group, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(cgroup.DefaultRoot, "cpu", group, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// The kernel of v1 takes every order of writes, below a bound of the group above too, and tells of
// the manager's.
func TestRealAdopted(t *testing.T) {
	o := cgrouptest.RealOthers(t)
	group, pid := realForeign(t, o, "cpu")
	inner := group + "/container_1_0001_01_000002"
	dir := filepath.Join(cgroup.DefaultRoot, "cpu", inner)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	write := func(group, file, value string) {
		t.Helper()
		// A process of its own, for the kernel tells of others' writes alone.
		out, err := exec.Command("/bin/sh", "-c", "echo "+value+" > "+filepath.Join(cgroup.DefaultRoot, "cpu", group, file)).
			CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	write(group, "cpu.cfs_quota_us", "150000")
	write(inner, "cpu.cfs_quota_us", "100000")
	write(inner, "cpu.cfs_period_us", "80000")
	hold, err := o.Found(inner)
	if err != nil {
		t.Fatal(err)
	}
	acct := fmt.Sprintf("/pacer-test-%d-acct", os.Getpid())
	hold.Acct, hold.FromAcct = acct, "/"
	if err := o.Enclose(hold, func() ([]int, error) { return []int{pid}, nil }); err != nil {
		t.Fatal(err)
	}
	a, err := o.Adopt(hold, func(h cgroup.Hold) error { hold = h; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if a.Ceiling() != 1.25 {
		t.Errorf("ceiling %v", a.Ceiling())
	}
	for _, quota := range []units.Cores{0.3, 1.2, 0.05, units.Unlimited, 0.7, 1.25, 0.1} {
		if err := a.SetQuota(quota); err != nil {
			t.Fatal(err)
		}
		want := quota
		if quota >= 1.25 {
			want = units.Unlimited
		}
		if got, err := a.Quota(); err != nil || got != want && math.Abs(float64(got-want)) > 0.001 {
			t.Errorf("quota %v, want %v: %v", got, want, err)
		}
	}
	write(inner, "cpu.cfs_quota_us", "40000")
	for known := true; known; _, known = a.Last() {
		if _, err := os.Stat(dir); err != nil {
			t.Fatal(err)
		}
	}
	// The period in force is Pacer's: what the manager writes counts by the one that it has set.
	if _, err := a.Quota(); err != nil || a.Ceiling() != 0.5 || readReal(t, inner, "cpu.cfs_period_us") != "80000" {
		t.Errorf("ceiling %v, %v", a.Ceiling(), err)
	}
	if err := errors.Join(a.SetQuota(0.1), a.Close(), hold.PutBack("")); err != nil {
		t.Fatal(err)
	}
	if q, p := readReal(t, inner, "cpu.cfs_quota_us"), readReal(t, inner, "cpu.cfs_period_us"); q != "40000" || p != "80000" {
		t.Errorf("%s in %s were put back", q, p)
	}
	if _, err := os.Stat(filepath.Join(cgroup.DefaultRoot, "cpuacct", acct)); !os.IsNotExist(err) {
		t.Errorf("the group for counting is left: %v", err)
	}
}

// The kernel of v2 takes what Pacer writes, gives back what was found, and lets processes be moved out
// of a manager's group and back.
func TestRealV2Adopted(t *testing.T) {
	onV2(t)
	o := cgrouptest.RealOthers(t)
	top := fmt.Sprintf("/pacer-test-%d-others", os.Getpid())
	inner := top + "/container_1_0001_01_000002"
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestPlaysAContainer$")
	cmd.Env = append(os.Environ(), "PACER_TEST_CONTAINER=1")
	stdin, err := cmd.StdinPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		for _, group := range []string{inner, top} {
			_ = os.Remove(filepath.Join(cgroup.DefaultRoot, group))
		}
	})
	file := func(group, name string) string { return filepath.Join(cgroup.DefaultRoot, group, name) }
	write := func(group, name, value string) {
		t.Helper()
		if err := os.WriteFile(file(group, name), []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, group := range []string{top, inner} {
		if err := os.Mkdir(filepath.Join(cgroup.DefaultRoot, group), 0o755); err != nil {
			t.Fatal(err)
		}
		if group == top {
			write(top, "cgroup.subtree_control", "+cpu")
		}
	}
	write(inner, "cpu.max", "100000 80000")
	write(inner, "cgroup.procs", strconv.Itoa(cmd.Process.Pid))
	hold, err := o.Found(inner)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(h cgroup.Hold) error { hold = h; return nil }
	a, err := o.Adopt(hold, keep)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.SetQuota(0.3); err != nil || a.Ceiling() != 1.25 || content(t, file(inner, "cpu.max")) != "29997 99991" {
		t.Errorf("%v, ceiling %v, %q", err, a.Ceiling(), content(t, file(inner, "cpu.max")))
	}
	if err := a.Release(); err != nil || content(t, file(inner, "cpu.max")) != "100000 80000" {
		t.Errorf("%v: %q was put back", err, content(t, file(inner, "cpu.max")))
	}
	own := fmt.Sprintf("/pacer-test-%d/node/app-1-1", os.Getpid())
	hold = cgroup.Hold{CPU: own, Acct: own, Quota: -1, Period: 100000, FromCPU: inner, Weight: 2}
	if err := o.Enclose(hold, func() ([]int, error) { return o.Members(inner) }); err == nil {
		a, err = o.Adopt(hold, keep)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := a.SetQuota(units.Unlimited); err != nil || a.Ceiling() != 1.25 || content(t, file(own, "cpu.weight")) != "200" {
		t.Errorf("%v, ceiling %v, weight %q", err, a.Ceiling(), content(t, file(own, "cpu.weight")))
	}
	if members, err := o.Members(own); err != nil || len(members) != 1 || content(t, file(own, "cpu.max")) != "124997 99991" {
		t.Errorf("%v, %v: %q", members, err, content(t, file(own, "cpu.max")))
	}
	if err := a.Release(); err != nil || content(t, file(inner, "cgroup.procs")) != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("%v: %q is back", err, content(t, file(inner, "cgroup.procs")))
	}
}

// TestPlaysAContainer is what runs in one, where no other program is.
func TestPlaysAContainer(*testing.T) {
	if os.Getenv("PACER_TEST_CONTAINER") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
	}
}
