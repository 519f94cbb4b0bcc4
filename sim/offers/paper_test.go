package offers

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Section 3.1: with 2 of 10 CPUs and 512 MB of 1 GB memory is dominant.
func TestDominantShare(t *testing.T) {
	whole := Resources{10000, 1024}
	if got := (Resources{2000, 512}).Share(whole); got != 0.5 {
		t.Errorf("2 of 10 CPUs, 512 MB of 1 GB: share %v, want 1/2", got)
	}
	if got := (Resources{6000, 512}).Share(whole); got != 0.6 {
		t.Errorf("6 of 10 CPUs, 512 MB of 1 GB: share %v, want 0.6", got)
	}
}

// Table 3.1: what a framework that is alone holds, on a node and on six.
func TestSlotsOfTable31(t *testing.T) {
	for _, c := range []struct {
		f          Framework
		node, most Resources
		each, all  int
	}{
		{hadoop, smaller, Resources{2000, 2816}, 3, 18},
		{hadoop, larger, Resources{4000, 5888}, 7, 42},
		{sparkFG, smaller, Resources{2000, 896}, 1, 6},
		{sparkFG, larger, Resources{4000, 896}, 3, 18},
	} {
		c.f.Tasks = 120
		for nodes, want := range map[int]int{1: c.each, 6: c.all} {
			moments, err := Run(Cluster{Nodes: nodes, Node: c.node}, []Framework{c.f})
			if err != nil {
				t.Fatal(err)
			}
			if s := moments[0].Of[0]; s.Running != want || s.Held != (Resources{}.plus(nodes, c.most)) {
				t.Errorf("%s on %d of %v: %d slots and %v, want %d and %d times %v", c.f.Name, nodes, c.node, s.Running, s.Held,
					want, nodes, c.most)
			}
		}
	}
}

// Section 3.3.4: the start is 30 % of Hadoop's 1 GB, and 55 % of SparkFG's.
func TestTheStartsPart(t *testing.T) {
	for percent, f := range map[int]Framework{30: hadoop, 55: sparkFG} {
		f.Tasks = 8
		moments, err := Run(Cluster{Nodes: 6, Node: larger}, []Framework{f})
		if err != nil {
			t.Fatal(err)
		}
		all := moments[len(moments)-1].At
		if got := 100 * units.FromDuration(f.Start) / all; int(got+0.5) != percent {
			t.Errorf("%s starts in %.1f %% of %v, want %d %%", f.Name, got, all, percent)
		}
	}
}

// named is the case of that name.
func named(t *testing.T, name string) Case {
	t.Helper()
	cases, err := WordCount(name)
	if err != nil || len(cases) == 0 || cases[0].Name != name {
		t.Fatalf("WordCount(%q) = %d cases, %v", name, len(cases), err)
	}
	return cases[0]
}

// Section 3.3.2: a fine framework that is first gives its slots back one by one to the coarse one, whose
// share is the smaller, and cannot run a task on the executors that it keeps.
func TestTheDeadlock(t *testing.T) {
	var stuck []units.Seconds
	var began, ended, after units.Seconds // Hadoop's, and the first moment at which SparkFG is stuck no more.
	held := Resources{6000, 6 * 896}
	for _, m := range named(t, "5 GB, SparkFG first").Moments {
		spark, hadoop := m.Of[0], m.Of[1]
		switch works := hadoop.Running > 0; {
		case works && began == 0:
			began = m.At
		case !works && began > 0 && ended == 0:
			ended = m.At
		}
		if !spark.Stuck() {
			if len(stuck) > 0 && after == 0 {
				after = m.At
			}
			continue
		}
		stuck = append(stuck, m.At)
		if spark.Held != held || spark.Executors != held || spark.Waiting != 34 || spark.Share != 0.5 {
			t.Errorf("at %v SparkFG has %+v, want %v, all of executors, and 34 tasks that wait", m.At, spark, held)
		}
	}
	if len(stuck) < 2 || stuck[0] != began || stuck[len(stuck)-1] >= ended || after != ended {
		t.Errorf("SparkFG is stuck at %v and not at %v, Hadoop works %v to %v: want the same", stuck, after, began, ended)
	}
}

func TestNobodyElseIsStuck(t *testing.T) {
	cases, err := WordCount("")
	if err != nil || len(cases) != 10 {
		t.Fatalf("%d cases, %v; want 10", len(cases), err)
	}
	for _, c := range cases {
		stuck, both := false, false
		for i, m := range c.Moments {
			if i > 0 && m.At <= c.Moments[i-1].At {
				t.Errorf("%s: a moment at %v after one at %v", c.Name, m.At, c.Moments[i-1].At)
			}
			stuck = stuck || m.Of[0].Stuck() || m.Of[1].Stuck()
			both = both || m.Of[0].Running > 0 && m.Of[1].Running > 0
		}
		if want := c.Name == "5 GB, SparkFG first"; stuck != want {
			t.Errorf("%s: stuck: %v, want %v", c.Name, stuck, want)
		}
		// Whole frameworks follow each other where nothing is given back before the end and one wants all.
		kept := strings.HasSuffix(c.Name, "Hadoop first") && !c.Cluster.ReleaseTask && c.Tasks > 8
		if want := !kept && c.Name != "5 GB, SparkFG first"; both != want {
			t.Errorf("%s: both run at once: %v, want %v", c.Name, both, want)
		}
		last := c.Moments[len(c.Moments)-1]
		for _, s := range last.Of {
			if s.Held != (Resources{}) || s.Waiting+s.Running > 0 {
				t.Errorf("%s: at the end %s has %+v", c.Name, s.Framework, s)
			}
		}
	}
}

// Section 3.5.2: both go on once the first tasks have ended, with half of the CPUs each where all is given back, and
// where what idles is shrunk with what that leaves.
func TestTheRemedies(t *testing.T) {
	for name, want := range map[string][2]Standing{
		"5 GB, release task, SparkFG first": {
			{Held: Resources{6000, 3 * 896}, Executors: Resources{3000, 3 * 896}, Share: 0.5, Running: 3, Waiting: 31},
			{Held: Resources{6000, 3 * 2816}, Executors: Resources{1500, 3 * 512}, Share: 0.5, Running: 9, Waiting: 31}},
		"5 GB, release task, Hadoop first": {
			{Held: Resources{6000, 3 * 896}, Executors: Resources{3000, 3 * 896}, Share: 0.5, Running: 3, Waiting: 37},
			{Held: Resources{6000, 3 * 2816}, Executors: Resources{1500, 3 * 512}, Share: 0.5, Running: 9, Waiting: 13}},
		// Beside four shrunk executors of SparkFG a node has no memory for a second slot of Hadoop's.
		"5 GB, revoke shrink, SparkFG first": {
			{Held: Resources{4400, 6 * 896}, Executors: Resources{2400, 6 * 896}, Share: 4. / 12, Running: 2, Waiting: 32},
			{Held: Resources{4000, 4 * 1280}, Executors: Resources{2000, 4 * 512}, Share: 4. / 12, Running: 4, Waiting: 36}},
	} {
		want[0].Framework, want[1].Framework = "SparkFG", "Hadoop"
		for _, m := range named(t, name).Moments {
			if m.Of[0].Running == 0 || m.Of[1].Running == 0 {
				continue
			}
			if got := [2]Standing(m.Of); got != want {
				t.Errorf("%s: from %v on %+v, want %+v", name, m.At, got, want)
			}
			break
		}
	}
}

// Section 3.3.2: for eight tasks Hadoop needs few nodes.
func TestACoarseOneFillsFewNodes(t *testing.T) {
	for _, m := range named(t, "1 GB, larger nodes, Hadoop first").Moments[:2] {
		if got := m.Of[1].Executors; got != (Resources{1000, 1024}) {
			t.Errorf("at %v Hadoop has executors of %v, want two", m.At, got)
		}
	}
}

// Section 3.3.1: coarse frameworks that want more than there is follow each other.
func TestCoarseOnesFollowEachOther(t *testing.T) {
	coarse := Framework{Name: "SparkCG", Coarse: true, Executor: Resources{0, 896}, Slot: Resources{1000, 0}, Tasks: 120,
		Start: 12 * time.Second, Task: 10 * time.Second}
	second := hadoop
	second.Tasks, second.Arrives = 120, 10*time.Second
	moments, err := Run(Cluster{Nodes: 6, Node: larger}, []Framework{coarse, second})
	if err != nil {
		t.Fatal(err)
	}
	if s := moments[0].Of[0]; s.Running != 24 {
		t.Errorf("SparkCG runs %d tasks, want one on each of 24 CPUs", s.Running)
	}
	for _, m := range moments {
		if m.Of[0].Held != (Resources{}) && m.Of[1].Held != (Resources{}) {
			t.Errorf("at %v both hold: %+v", m.At, m.Of)
		}
	}
}

func TestTheSameArgumentsGiveTheSame(t *testing.T) {
	a, err := WordCount("")
	b, err2 := WordCount("")
	if err != nil || err2 != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v, %v, or other moments", err, err2)
	}
}

func TestEveryFaultIsSaid(t *testing.T) {
	bad := []Framework{
		{Name: "large", Executor: Resources{1000, 100}, Slot: Resources{2000, 0}, Tasks: 1, Task: time.Second},
		{Name: "heavy", Executor: Resources{1000, 100}, Slot: Resources{0, 2900}, Tasks: 1, Task: time.Second},
		{Name: "bodiless", Slot: Resources{1000, 0}, Tasks: 1, Task: time.Second},
		{Name: "giving", Executor: Resources{1000, 0}, Slot: Resources{-1, 0}, Tasks: 1, Task: time.Second},
		{Name: "idle", Executor: Resources{1000, 0}, Task: time.Second},
		{Name: "timeless", Executor: Resources{1000, 0}, Tasks: 1},
		{Name: "early", Executor: Resources{1000, 0}, Tasks: 1, Task: time.Second, Arrives: -1},
	}
	moments, err := Run(Cluster{Nodes: 1, Node: smaller}, bad)
	if err == nil || moments != nil {
		t.Fatalf("%v, %v; want faults alone", moments, err)
	}
	for _, f := range bad {
		if !strings.Contains(err.Error(), "Name:"+f.Name) {
			t.Errorf("nothing is said of %s: %v", f.Name, err)
		}
	}
	for _, c := range []Cluster{{}, {Nodes: -1, Node: smaller}, {Nodes: 1, Node: Resources{1000, 0}}} {
		if _, err := Run(c, nil); err == nil || !strings.Contains(err.Error(), "want one at least, with CPU and memory") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
