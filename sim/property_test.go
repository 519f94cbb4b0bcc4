package sim

import (
	"math"
	"slices"
	"testing"
	"time"
)

// paced is the error of one application in a world that change has changed.
func paced(t *testing.T, change func(*Config)) Outcome {
	t.Helper()
	return pacedBy(t, 0, change)
}

// pacedBy is that of an application whose executors have so many cores, 0 for their nodes'.
func pacedBy(t *testing.T, cores int, change func(*Config)) Outcome {
	t.Helper()
	c := Default()
	change(&c)
	a := chain("app", 3, 600, 1500)
	a.ExecutorCores = cores
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

// With executors of fewer cores than their nodes a stage has all cores, too. It ends later by what these take to
// start and warm up, and by their coarser shares.
func TestExecutorsOfFewerCoresArePacedAlike(t *testing.T) {
	want := paced(t, func(*Config) {})
	for _, cores := range []int{1, 2, 4} {
		got := pacedBy(t, cores, func(*Config) {})
		if got.Error < -1 || got.Error > 3 || got.Duration > 1.08*want.Duration {
			t.Errorf("%d cores: %v, error %+.2f %%, instead of %v, %+.2f", cores, got.Duration, got.Error, want.Duration, want.Error)
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
