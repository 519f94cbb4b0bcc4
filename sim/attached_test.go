package sim

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// attachedWorld is a world of three nodes that attach.
func attachedWorld(seed uint64) Config {
	c := trialConfig(seed)
	for i := range c.Nodes {
		c.Nodes[i].Attach = true
	}
	return c
}

// attachedApp is an application whose executors another cluster manager starts.
func attachedApp() plant.App {
	a := chain("app", 3, 200, 800)
	a.ExecutorCores, a.Attach = 2, &plant.Attach{Least: 1, Most: 8, Wait: 20}
	return a
}

// Whatever dies, applications whose executors another cluster manager starts end, no invariant breaks, and all that
// happens is as before, or the commit says why it is not.
func TestAttachedWhateverHappens(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	sums := make([]string, min(*seeds, 60))
	for seed := range sums {
		sum := sha256.New()
		c := attachedWorld(uint64(seed))
		c.History = sum
		w := must(t, c)
		a := attachedApp()
		full := submit(t, w, a)
		a.Deadline = full.Result().Duration * 1.8
		start := w.Now()
		var runs []*Driver
		for i := range 2 {
			d, err := w.Submit(start+units.Seconds(30*i), a)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, d)
		}
		some := slices.DeleteFunc(mishaps(), func(m mishap) bool {
			return m.most > leastOutage || m.fault == "plans-mutated" // No history can hold an infinite number.
		})
		if err := w.rain(some, 25, start+300); err != nil {
			t.Fatal(err)
		}
		if err := w.toTheEnd(); err != nil {
			t.Fatal(err)
		}
		for _, d := range runs {
			if r := d.Result(); r != nil && r.State != api.AppFinished {
				t.Errorf("seed %d: %+v", seed, r.AppSummary)
			}
		}
		sums[seed] = fmt.Sprintf("%x", sum.Sum(nil))[:16]
	}
	compareSums(t, attachedSums, sums)
}

// A node controller holds executors that it did not start, below the quota that they came with, and leaves them as they
// were found when it ends; one that is started again holds them as before.
func TestANodeControllerLetsAttachedExecutorsGo(t *testing.T) {
	c := attachedWorld(1)
	w := must(t, c)
	a := attachedApp()
	p := submit(t, w, a).Result().Duration
	a.Deadline = 4 * p
	d, err := w.Submit(w.Now(), a)
	if err != nil {
		t.Fatal(err)
	}
	bound := func() (n int) {
		for _, agent := range w.agents {
			for _, p := range agent.m.Held() {
				if !p.Exited && p.Quota() < 2 {
					n++
				}
			}
		}
		return n
	}
	for range 600 {
		if err := w.Pass(1e8); err != nil {
			t.Fatal(err)
		}
		if bound() > 0 {
			break
		}
	}
	if bound() == 0 {
		t.Fatal("after a minute no executor is held back")
	}
	for _, agent := range w.agents {
		agent.crash()
		if err := w.Pass(2 * guardTime); err != nil {
			t.Fatal(err)
		}
		for _, p := range agent.m.Processes() {
			if !p.Exited && p.Quota() <= 1e6 {
				t.Errorf("the executor %v of a node controller that has ended has a quota of %v", p.Key, p.Quota())
			}
		}
		if err := agent.up(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Pass(2e10); err != nil {
		t.Fatal(err)
	}
	if bound() == 0 {
		t.Error("node controllers that have come back hold no executor back")
	}
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	if o, err := d.Outcome(); err != nil || o.Executors <= 0 || o.Executors > 8 || o.Error < 0 {
		t.Errorf("%+v, %v", o, err)
	}
}
