package prophet

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/sim/experiment"
	_ "github.com/sparkpacer/pacer/test/draws"
)

func one(executors, cores int, stages ...Stage) App {
	return App{Cores: cores, Executors: executors, Memory: 8, Stages: stages}
}

func ran(t *testing.T, policy string, p Params, apps ...App) Outcome {
	t.Helper()
	o, err := Run(policy, apps, p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func close(got, want float64) bool { return math.Abs(got-want) < 0.01 }

// An application alone takes its own time, under each policy.
func TestAnApplicationAlone(t *testing.T) {
	for _, name := range Policies() {
		o := ran(t, name, DefaultParams, one(4, 5, stage(100, 300, 100), stage(50, 0, 0)))
		if !close(o.Makespan, 150) || !close(o.Took[0], 150) || !close(o.Ran[0], 150) {
			t.Errorf("%s: %+v, want 150 s", name, o)
		}
	}
}

// A device of which twice its rate is wanted gives 1/(1 + c) of it; the network and the cores are not short.
func TestADeviceThatIsWantedTwice(t *testing.T) {
	p := DefaultParams
	p.Servers, p.Loss = 1, 0.5
	two := []App{one(1, 5, stage(100, 330, 10)), one(1, 5, stage(100, 330, 10))}
	if o := ran(t, "capacity", p, two...); !close(o.Makespan, 100*2*1.5) {
		t.Errorf("capacity: %g, want 300 s", o.Makespan)
	}
	// Tetris reserves peaks: one after the other.
	if o := ran(t, "tetris", p, two...); !close(o.Makespan, 200) || !close(o.Ran[1], 100) {
		t.Errorf("tetris: %+v, want 200 s, 100 s each", o)
	}
	// With backoff the device is never wanted by more than it gives, as far as executors of five tasks can share it: two and
	// three of five tasks, then all of the one that is left.
	p.Servers = 1
	if o := ran(t, "prophet", p, two...); o.Makespan > 205 {
		t.Errorf("prophet with backoff: %g, want about 200 s", o.Makespan)
	}
	if with, without := ran(t, "prophet", p, two...), ran(t, "prophet-no-backoff", p, two...); with.Makespan >= without.Makespan {
		t.Errorf("backoff takes %g s, without it %g", with.Makespan, without.Makespan)
	}
	// Cores that are wanted twice are shared.
	cores := []App{one(1, 24, stage(100, 0, 0)), one(1, 24, stage(100, 0, 0))}
	if o := ran(t, "capacity", p, cores...); !close(o.Makespan, 200) {
		t.Errorf("cores: %g, want 200 s", o.Makespan)
	}
}

// Prophet pairs what waits for disks with what waits for the network.
func TestProphetPairsDisksWithNetworks(t *testing.T) {
	p := DefaultParams
	p.Servers = 2
	disk, network := stage(100, 300, 5), stage(100, 5, 240)
	apps := []App{one(1, 5, disk), one(1, 5, network), one(1, 5, disk), one(1, 5, network)}
	if o := ran(t, "prophet-no-backoff", p, apps...); o.Makespan > 110 {
		t.Errorf("%g s, want about 100", o.Makespan)
	}
}

// All executors are placed at once or none, on different servers; whoever is overdue holds up the others.
func TestGangsAndTheOverdue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := DefaultParams
		p.Servers = rapid.IntRange(1, 4).Draw(t, "servers")
		var apps []App
		for range rapid.IntRange(1, 8).Draw(t, "applications") {
			a := one(rapid.IntRange(1, p.Servers).Draw(t, "executors"), rapid.IntRange(1, 8).Draw(t, "cores"),
				stage(rapid.Float64Range(1, 50).Draw(t, "time"), rapid.Float64Range(0, 330).Draw(t, "disk"), 0))
			a.Memory = rapid.Float64Range(1, 32).Draw(t, "memory")
			a.Arrives = rapid.Float64Range(0, 20).Draw(t, "arrives")
			apps = append(apps, a)
		}
		for _, name := range Policies() {
			o, err := Run(name, apps, p)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range apps {
				if o.Ran[i] < a.time()-0.01 && strings.HasPrefix(name, "prophet") || o.Took[i] < a.time()-0.01 {
					t.Fatalf("%s: application %d ran %g s of %g", name, i, o.Ran[i], a.time())
				}
			}
		}
	})
	w := &world{p: DefaultParams, servers: make([]server, 4)}
	for i := range 3 {
		w.servers[i].memory = 30
	}
	a := one(2, 1, stage(1, 1, 1))
	if servers, _ := w.best(&waiting{App: &a}); servers != nil {
		t.Errorf("two executors are placed on %v, where one server has room", servers)
	}
	w.servers[2].memory = 0
	if servers, _ := w.best(&waiting{App: &a}); !slices.Equal(servers, []int{2, 3}) {
		t.Errorf("on %v, want two servers", servers)
	}
}

// An application that fits nowhere is an error, and so is an unknown policy.
func TestWhatCannotRun(t *testing.T) {
	p := DefaultParams
	for _, a := range []App{one(17, 1, stage(1, 0, 0)), one(1, 25, stage(1, 0, 0)), one(1, 1, stage(1, 331, 0)),
		{Cores: 1, Executors: 1, Memory: 33, Stages: []Stage{stage(1, 0, 0)}}} {
		if _, err := Run("prophet", []App{a}, p); err == nil {
			t.Errorf("%+v runs", a)
		}
	}
	if _, err := Run("best", nil, p); err == nil {
		t.Error("an unknown policy runs")
	}
}

// Xu, section 4.4, on one seed: what the source says of makespans and times of execution has the same sign. The order of
// capacity and drf is not the same on each seed.
func TestSection44(t *testing.T) {
	apps := Draw(0)
	if len(apps) != 90 || !slices.EqualFunc(apps, Draw(0), func(a, b App) bool { return a.Kind == b.Kind && a.Arrives == b.Arrives }) {
		t.Fatalf("%d applications, or others for the same seed", len(apps))
	}
	table, err := Experiments()[0].Run(experiment.Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range table.Figures {
		if !f.Holds && f.Name != "prophet.order_ok" {
			t.Errorf("%s: %.1f, want %s", f.Name, f.Ours, f.Band)
		}
	}
	if len(table.Figures) != 8 || len(table.Rows[0]) != 6 {
		t.Errorf("%d figures, %d rows", len(table.Figures), len(table.Rows[0]))
	}
	if peak := apps[0].peak(); peak[placement.Disk] <= 0 {
		t.Errorf("no disk: %v", peak)
	}
}
