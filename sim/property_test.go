package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/units"
)

// The queue fires in the order that sorting gives, whatever is set again or
// cancelled in between.
func TestTheQueueIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var all []*timer
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			switch rapid.IntRange(0, 3).Draw(t, "operation") {
			case 0, 1:
				tm := &timer{rank: rank(rapid.IntRange(0, 3).Draw(t, "rank")), id: uint64(rapid.IntRange(0, 3).Draw(t, "id"))}
				q.set(tm, units.Instant(rapid.IntRange(0, 9).Draw(t, "at")))
				all = append(all, tm)
			case 2:
				if len(all) > 0 {
					q.set(rapid.SampledFrom(all).Draw(t, "again"), units.Instant(rapid.IntRange(0, 9).Draw(t, "at")))
				}
			case 3:
				if len(all) > 0 {
					q.cancel(rapid.SampledFrom(all).Draw(t, "cancelled"))
				}
			}
		}
		want := slices.DeleteFunc(all, func(tm *timer) bool { return !tm.set() })
		slices.SortFunc(want, func(a, b *timer) int {
			if x, y := a.entry(), b.entry(); x.before(&y) {
				return -1
			}
			return 1
		})
		for i, w := range want {
			if got := q.next(); got != w {
				t.Fatalf("timer %d is not the one that sorting gives", i)
			}
		}
		if q.next() != nil {
			t.Fatal("there are more")
		}
	})
}

// paced is the error of one application in a world that change has changed.
func paced(t *testing.T, change func(*Config)) Outcome {
	t.Helper()
	c := Default()
	change(&c)
	a := chain("app", 3, 600, 1500)
	p, base, err := Record(c, a)
	if err != nil {
		t.Fatal(err)
	}
	c.Seed++
	a.Deadline = base.Duration * 1.4
	o, err := Pace(c, a, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Worlds that differ in what should not matter give nearly the same error.
func TestWhatShouldNotMatterDoesNot(t *testing.T) {
	want := paced(t, func(*Config) {})
	for name, c := range map[string]struct {
		change func(*Config)
		within float64
	}{
		"order of nodes":    {func(c *Config) { slices.Reverse(c.Nodes) }, 0.3},
		"another tick":      {func(c *Config) { c.Node.Interval = 250 * time.Millisecond }, 0.5},
		"duplicates":        {func(c *Config) { c.Net.Duplicate = 0.5 }, 0.3},
		"a slower network":  {func(c *Config) { c.Net.Delay = 20 * time.Millisecond }, 0.5},
		"messages overtake": {func(c *Config) { c.Net.Jitter, c.Net.Reorder = 10*time.Millisecond, true }, 0.5},
		"twice the pages":   {func(c *Config) { c.Plant.Page = 50 * time.Millisecond }, 0.7},
		"more, smaller nodes": {func(c *Config) {
			c.Nodes = nil
			for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				c.Nodes = append(c.Nodes, NodeSpec{Name: n, Cores: 8})
			}
		}, 0.7},
	} {
		got := paced(t, c.change)
		if math.Abs(got.Error-want.Error) > c.within {
			t.Errorf("%s: error %+.2f %% instead of %+.2f", name, got.Error, want.Error)
		}
	}
}

// Tasks of a slow node or beside a busy neighbour are paced as well: the error
// stays in bounds over seeds.
func TestTheDefaultLawHoldsOnWorseMachines(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	for seed := range uint64(3) {
		for name, change := range map[string]func(*Config){
			"slow node":  func(c *Config) { c.Nodes[1].Speed = 0.7 },
			"busy node":  func(c *Config) { c.Nodes[2].Others = 2 },
			"noisy rate": func(c *Config) { c.Plant.Noise = 0.15 },
			"collector":  func(c *Config) { c.Plant.PauseWork = 0.4 },
		} {
			o := paced(t, func(c *Config) { c.Seed = 50 + seed; change(c) })
			if o.Error < -0.5 || o.Error > 6 {
				t.Errorf("%s, seed %d: error %+.2f %%", name, 50+seed, o.Error)
			}
		}
	}
}
