package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// A quota that somebody else writes is seen in two ticks, however many executors
// there are and whether the kernel tells of it or not.
func TestAForeignQuotaIsSeenWithinTwoTicks(t *testing.T) {
	for _, watched := range []bool{true, false} {
		c := newCrowdOn(t, fakeGroups(t, watched), 300, 1)
		if watched && !c.executors.held[c.keys[0]].group.Watched() {
			t.Log("no fanotify here: every quota is read in every second tick")
			continue
		}
		var s node.Sample
		processes := c.sample(t, nil, &s)
		for i, key := range c.keys {
			if i%37 != 0 {
				continue
			}
			group := c.executors.held[key].group
			if err := group.SetQuota(0.5); err != nil { // With it the period becomes ours.
				t.Fatal(err)
			}
			path := filepath.Join(filepath.Dir(group.JoinFiles()[0]), "cpu.cfs_quota_us")
			if out, err := exec.Command("/bin/sh", "-c", "echo 30000 > "+path).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if watched {
				cgrouptest.AwaitForeignWrite(t, group)
			}
			seen := false
			for range 2 {
				processes = c.sample(t, processes, &s)
				for _, x := range s.Executors {
					seen = seen || x.Key == key && x.Quota == 0.3
				}
			}
			if !seen {
				t.Errorf("watched %v: the quota of %s is not seen in two ticks", watched, key)
			}
		}
	}
}

// On the kernel's own files, written by another process as docker update does it:
// an executor's own group, or its container's inside that.
func TestRealForeignQuotaIsInsistedOnAndYieldedTo(t *testing.T) {
	groups := cgrouptest.Real(t)
	watched := groups.WatchQuotas() == nil
	c := newCrowdOn(t, groups, 1, 1)
	t.Cleanup(func() {
		if err := c.executors.Stop(context.Background(), c.keys[0]); err != nil {
			t.Error(err)
		}
	})
	own := filepath.Dir(c.executors.held[c.keys[0]].group.JoinFiles()[0])
	container := filepath.Join(own, "c0ffee")
	for _, dir := range []string{own, container} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if groups.Version() == cgroup.V2 && dir == container { // As an engine does.
			if err := os.WriteFile(filepath.Join(own, "cgroup.subtree_control"), []byte("+cpu"), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.executors.held[c.keys[0]].group.LookInside(); err != nil {
			t.Fatal(err)
		}
		for how, want := range map[node.Conflict]units.Cores{node.Insist: units.Unlimited, node.Yield: 0.25} {
			t.Run(filepath.Base(dir)+" "+string(how), func(t *testing.T) { c.contested(t, how, dir, watched, want) })
		}
	}
}

// contested has another process limit an idle executor by a file in dir and wants
// a quota two ticks later.
func (c *crowd) contested(t *testing.T, how node.Conflict, dir string, watched bool, want units.Cores) {
	cfg := node.Default()
	cfg.Node, cfg.Incarnation, cfg.Total, cfg.Offered, cfg.Conflict = "n1", "i", 2, 2, how
	e, err := node.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	group := c.executors.held[c.keys[0]].group
	if err := group.SetQuota(units.Unlimited); err != nil {
		t.Fatal(err)
	}
	now, text := units.Instant(time.Hour), ""
	var s node.Sample
	processes := c.sample(t, nil, &s)
	tick := func() {
		now = now.Add(cfg.Interval)
		processes = c.sample(t, processes, &s)
		for _, a := range e.Step(now, &s) {
			if a.Kind == node.ActSetQuota {
				if err := c.executors.SetQuota(a.Key, a.Cores); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, event := range e.Events() {
			text += event.String() + "\n"
		}
	}
	tick()
	e.Apply(now, api.Plan{V: api.Version, Epoch: 1, Node: "n1", Apps: []api.PlanApp{{ID: "app-1", Launch: &api.Launch{}, Executors: []api.ExecutorID{"1"}}}})
	tick()
	script := fmt.Sprintf("echo 100000 > %[1]s/cpu.cfs_period_us && echo 25000 > %[1]s/cpu.cfs_quota_us", dir)
	if c.executors.groups.Version() == cgroup.V2 {
		script = fmt.Sprintf("echo 25000 100000 > %s/cpu.max", dir)
	}
	if out, err := exec.Command("/bin/sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if watched {
		cgrouptest.AwaitForeignWrite(t, group)
	}
	tick()
	tick()
	if quota, err := group.Quota(); err != nil || quota != want {
		t.Errorf("%s: quota %v, %v, want %v", how, quota, err, want)
	}
	if strings.Count(text, "quota conflict app-1/1: 0.25 cores written by ") != 1 || (watched && !strings.Contains(text, "process ")) {
		t.Errorf("%s: events:\n%s", how, text)
	}
}
