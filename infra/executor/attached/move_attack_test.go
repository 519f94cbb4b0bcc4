package attached_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// A process is taken out of the group that bounds it only where a NodeManager of its user has started it.
func TestAttackAStrayLeavesItsGroup(t *testing.T) {
	const slice = "/user.slice/user-1000.slice"
	java := []string{"/usr/bin/java", managerClass}
	for name, c := range map[string]struct {
		parents []process // The last one is the executor's.
		moved   bool
		beside  *process
	}{
		"a NodeManager's container":            {[]process{{pid: 4000, args: java}, {pid: 4001, args: []string{"bash"}}}, true, nil},
		"a login shell's child":                {[]process{{pid: 4001, args: []string{"bash"}}}, false, nil},
		"an orphan":                            {nil, false, nil},
		"left behind in a NodeManager's group": {nil, true, &process{args: java}},
		"left behind by another user's":        {nil, false, &process{args: java, user: 4711}},
		"left behind in another group":         {nil, false, &process{args: java, groups: "away"}},
		"a NodeManager of another user":        {[]process{{pid: 4000, args: java, user: 4711}, {pid: 4001, args: []string{"bash"}}}, false, nil},
		"it names a NodeManager in a script":   {[]process{{pid: 4001, args: []string{"bash", "-c", managerClass + " start"}}}, false, nil},
		"a NodeManager beside it":              {[]process{{pid: 4000, args: java, parent: 1}, {pid: 4001, args: []string{"bash"}, parent: 1}}, false, nil},
	} {
		for _, layout := range cgrouptest.Layouts() {
			t.Run(name+" on "+string(layout), func(t *testing.T) {
				m := newMachine(t, layout)
				m.tree.SetQuota(t, slice, 50000, 100000)
				m.tree.Use(t, slice, 0, 0)
				if b := c.beside; b != nil {
					beside := *b
					beside.pid, beside.parent, beside.session = 4000, 1, 4000
					if beside.groups = m.in(slice, true); b.groups != "" {
						beside.groups = m.in("/system.slice", true)
					}
					m.run(t, beside)
				}
				above := 1
				for _, p := range c.parents {
					if p.parent == 0 {
						p.parent = above
					}
					p.session, p.groups = p.pid, m.in(slice, true)
					m.run(t, p)
					above = p.pid
				}
				m.run(t, process{pid: 4242, parent: above, session: 4242, args: command(yarnClass, "1"), groups: m.in(slice, true)})
				r := m.runtime(t)
				h, err := r.Start(t.Context(), spec("1"))
				if err != nil {
					t.Fatal(err)
				}
				x := r.Of(h)
				if (x.Group != nil) != c.moved || !c.moved && !strings.Contains(x.Unpaced, "no NodeManager of its user is among its parents") {
					t.Fatalf("held as %+v", x)
				}
				if _, err := os.Stat(m.tree.Path(parent+"/"+cgroup.GroupName(app, "1"), "cgroup.procs")); (err == nil) != c.moved {
					t.Errorf("a group of Pacer's: %v", err)
				}
			})
		}
	}
}

// What is moved has what bounded it, divided among all that came from there, from before it comes until it is back, and
// whatever quota is asked for.
func TestAttackManyLeaveABoundTogether(t *testing.T) {
	const slice = "/system.slice/hadoop-yarn-nodemanager.service"
	const most = 2 + 4*0.0005 // Each quota of Pacer's is 0.0005 cores off at the most.
	for _, layout := range cgrouptest.Layouts() {
		m := newMachine(t, layout)
		m.tree.SetQuota(t, slice, 200000, 100000) // Two cores for all of them.
		m.tree.Use(t, slice, 0, 0)
		m.kernelHas(t, slice, "")
		m.manager(t, 4000)
		r := m.runtime(t)
		inForce := func() (all units.Cores) {
			t.Helper()
			for i := 1; i <= 4; i++ {
				own := parent + "/" + cgroup.GroupName(app, id(i))
				text := ""
				if layout == cgrouptest.V2 {
					if _, err := os.Stat(m.tree.Path(own, "cgroup.procs")); err == nil {
						text = m.tree.Read(t, own, "cpu.max")
					}
				} else if _, err := os.Stat(m.tree.Path(own, "cpu.cfs_quota_us")); err == nil {
					text = m.tree.Read(t, own, "cpu.cfs_quota_us") + " " + m.tree.Read(t, own, "cpu.cfs_period_us")
				}
				var us, period float64
				if text == "" {
					continue
				}
				if n, err := fmt.Sscan(text, &us, &period); n != 2 || us <= 0 {
					t.Fatalf("%s: executor %d has %q: %v", layout, i, text, err)
				}
				all += units.Cores(us / period)
			}
			return all
		}
		for i := 1; i <= 4; i++ {
			pid := 4100 + i
			m.run(t, process{pid: pid, parent: 4000, session: pid, args: command(yarnClass, id(i)), groups: m.in(slice, true)})
		}
		for i := 1; i <= 4; i++ {
			h, err := r.Start(t.Context(), spec(id(i)))
			if err != nil {
				t.Fatal(err)
			}
			x := r.Of(h)
			if x.Group == nil {
				t.Fatalf("%s: unpaced %q", layout, x.Unpaced)
			}
			if all := inForce(); all > most || all < 1.99 {
				t.Errorf("%s: %d executors have %v cores together, of 2", layout, i, all)
			}
			if ceiling := x.Group.Ceiling(); ceiling > 2/units.Cores(i)+0.001 {
				t.Errorf("%s: one of %d has the ceiling %v", layout, i, ceiling)
			}
			if q, err := x.Group.Quota(); err != nil || !q.IsUnlimited() {
				t.Errorf("%s: quota %v, %v", layout, q, err)
			}
			for _, quota := range []units.Cores{units.Unlimited, 100, 0.2, units.Unlimited} {
				if err := x.Group.SetQuota(quota); err != nil {
					t.Fatal(err)
				}
				if all := inForce(); all > most {
					t.Errorf("%s: with the quota %v %d executors have %v cores", layout, quota, i, all)
				}
			}
		}
		// What goes leaves its part to the others, to one that was held lower what it had.
		low, err := r.Start(t.Context(), spec("1"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Of(low).Group.SetQuota(0.2); err != nil {
			t.Fatal(err)
		}
		for i := 4; i >= 3; i-- {
			h, err := r.Start(t.Context(), spec(id(i)))
			if err == nil {
				err = r.Stop(t.Context(), h)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if all := inForce(); all > 1.201 || all < 1.19 {
			t.Errorf("%s: two, one of which has 0.2 cores, have %v", layout, all)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that says that it has more cores than the machine weighs no more than all of these.
func TestAttackMoreCoresThanThereAre(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	m.tree.Use(t, "/", 0, 0)
	m.manager(t, 4000)
	args := command(yarnClass, "1")
	args[slices.Index(args, "--cores")+1] = "100000"
	m.run(t, process{pid: 4242, parent: 4000, session: 4242, args: args, groups: m.in("/", true)})
	r := m.runtime(t)
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	if x := r.Of(h); x.Weight != 16 || m.tree.Read(t, parent+"/"+cgroup.GroupName(app, "1"), "cpu.shares") != "16384" {
		t.Errorf("it weighs %v", x.Weight)
	}
}

func id(i int) api.ExecutorID { return api.ExecutorID(fmt.Sprint(i)) }

// Of a container's session the processes of another user stay where they are.
func TestAttackAnothersProcessInTheSession(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	m.tree.Use(t, "/", 0, 0)
	m.manager(t, 4000)
	m.run(t, process{pid: 4242, parent: 4000, session: 4242, args: command(yarnClass, "1"), groups: m.in("/", true)})
	m.run(t, process{pid: 4243, parent: 4242, session: 4242, args: []string{"python3"}, groups: m.in("/", true)})
	m.run(t, process{pid: 4244, parent: 4242, session: 4242, args: []string{"su"}, groups: m.in("/", true), user: 4711})
	if _, err := m.runtime(t).Start(t.Context(), spec("1")); err != nil {
		t.Fatal(err)
	}
	if got := m.tree.Read(t, parent+"/"+cgroup.GroupName(app, "1"), "cgroup.procs"); got != "4242\n4243" {
		t.Errorf("%q were moved", got)
	}
}

// What is found again after a restart is what was proven: a record that says nothing of that is put back.
func TestAttackARecordWithoutAProof(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	m.tree.SetQuota(t, yarnGroup, 150000, 100000)
	m.tree.Use(t, yarnGroup, 0, 0)
	m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true)})
	r := m.runtime(t)
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Of(h).Group.SetQuota(0.3); err != nil {
		t.Fatal(err)
	}
	again := m.runtime(t)
	if got, err := again.Recover(); err != nil || len(got) != 1 {
		t.Fatalf("recovered %v, %v", got, err)
	}
	if page, err := again.Of(h).OpenPage(); err != nil {
		t.Errorf("its page: %v", err)
	} else if err := page.Close(); err != nil {
		t.Error(err)
	}
	files, err := os.ReadDir(m.state)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	file := m.state + "/" + files[0].Name()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), attach.Secret) {
		t.Errorf("the record has the secret: %s", text)
	}
	write(t, file, strings.Replace(string(text), `"proof":"`, `"was":"`, 1))
	if got, err := m.runtime(t).Recover(); err != nil || len(got) != 0 {
		t.Errorf("recovered %v, %v", got, err)
	}
	if us := m.tree.Read(t, yarnGroup, "cpu.cfs_quota_us"); us != "150000" {
		t.Errorf("quota %s", us)
	}
}
