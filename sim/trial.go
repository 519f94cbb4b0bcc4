package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// mishap is a fault that chaos lets happen, and what mends it.
type mishap struct {
	fault, mend string
	// least and most bound the time until it is mended, in seconds.
	least, most float64
	// size is the fault's, back the mend's; nil for 0.
	size, back func(r *rand.Rand, a *agent) float64
	// with is what happens to the same node at the same moment.
	with string
	// amount is the size of with.
	amount func(r *rand.Rand, a *agent) float64
}

// upTo draws a size from low to high.
func upTo(low, high float64) func(*rand.Rand, *agent) float64 {
	return func(r *rand.Rand, _ *agent) float64 { return low + (high-low)*r.Float64() }
}

// outage is how long what is away in Trial stays so, in seconds.
const (
	leastOutage = 60
	mostOutage  = 600
)

// mishaps are what Trial draws from: what work has to go on through.
func mishaps() []mishap {
	return []mishap{
		{fault: "planner-down", mend: "planner-up", least: leastOutage, most: mostOutage},
		{fault: "planner-down", mend: "planner-up", least: 0.01, most: 10},
		{fault: "planner-lost", mend: "planner-up", least: 0.01, most: leastOutage},
		{fault: "planner-torn", mend: "planner-up", least: 1, most: 10, size: upTo(0, 1)},
		{fault: "planner-second", size: upTo(0, 20)},
		{fault: "planner-down", mend: "planner-up", least: 0.01, most: 10, with: "clock-ahead", amount: upTo(0, 7200)},
		{fault: "planner-down", mend: "planner-up", least: 0.01, most: 10, with: "clock-back", amount: upTo(0, 7200)},
		{fault: "saves-refused", mend: "saves-taken", least: 1, most: leastOutage},
		{fault: "bus-down", mend: "bus-up", least: leastOutage, most: mostOutage},
		{fault: "link-cut", mend: "link-up", least: 1, most: mostOutage},
		{fault: "drivers-cut", mend: "drivers-back", least: 1, most: mostOutage},
		{fault: "link-cut", mend: "link-up", least: leastOutage, most: mostOutage, with: "drivers-cut"},
		{fault: "controller-down", mend: "controller-up", least: 0.01, most: leastOutage},
		{fault: "statuses-mutated", size: upTo(1, 20)},
		{fault: "plans-mutated"},
		{fault: "executor-lost"},
		{fault: faultOutputs},
		{fault: "pages-frozen", mend: "pages-thawed", least: 1, most: leastOutage},
		{fault: "samples-garbled", mend: "samples-mended", least: 1, most: 10},
		{fault: "quotas-refused", mend: "quotas-taken", least: 1, most: 10},
		{fault: faultOthers, mend: faultOthers, least: 1, most: leastOutage, size: func(r *rand.Rand, a *agent) float64 {
			return r.Float64() * a.m.Cores / 2
		}},
		{fault: "drain", mend: "undrain", least: 1, most: leastOutage},
	}
}

// mends of what happens with a mishap.
var mends = map[string]string{"drivers-cut": "drivers-back"}

// rain has mishaps happen at random, on average one every so often.
func (w *World) rain(list []mishap, mean, until units.Seconds) error {
	r := des.Random(w.cfg.Seed, "chaos")
	size := func(of func(*rand.Rand, *agent) float64, a *agent) float64 {
		if of == nil {
			return 0
		}
		return of(r, a)
	}
	for at := w.Now(); ; {
		at += units.Seconds(r.ExpFloat64()) * mean
		if at > until {
			return nil
		}
		m := list[r.IntN(len(list))]
		a := w.agents[r.IntN(len(w.agents))]
		value, back := size(m.size, a), size(m.back, a)
		end := at + units.Seconds(m.least+(m.most-m.least)*r.Float64())
		for _, f := range []timedFault{{at: at, kind: m.fault, value: value},
			{at: at, kind: m.with, value: size(m.amount, a)},
			{at: end, kind: m.mend, value: back}, {at: end, kind: mends[m.with]}} {
			if f.kind == "" {
				continue
			}
			if err := w.Fault(f.at, f.kind, a.m.Name, f.value); err != nil {
				return err
			}
		}
	}
}

// trialApp is what runs in Trial: long enough for several outages.
func trialApp(name string) plant.App {
	a := plant.App{Name: name, Head: 3, Tail: 0.3, Exit: 1}
	for i := range 4 {
		s := plant.Stage{Tasks: 96, Work: 2400, Records: 1_000_000, Written: 1_000_000, Gap: 0.1}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		a.Stages = append(a.Stages, s)
	}
	return a
}

// trialConfig is a world of three nodes with a bad network.
func trialConfig(seed uint64) Config {
	c := Default()
	c.Seed, c.Restarts, c.Limit, c.Nodes = seed, true, 6*time.Hour, c.Nodes[:3]
	c.Net = des.Delays{Delay: time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02, Duplicate: 0.02, Reorder: true}
	return c
}

// trialProfile is that of trialApp, made once.
var trialProfile = sync.OnceValues(func() (api.Profile, error) {
	c := trialConfig(0)
	c.Net = des.QuietRack()
	p, _, err := Record(c, trialApp("known"))
	return p, err
})

// Chaos is what is broken in the worlds of a seed: one with deadlines and short faults (RunChaos),
// and one whose planners, state and bus come and go (Trial). One that panics is broken. It is safe for
// concurrent use.
func Chaos(seed uint64) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("seed %d: panic: %v", seed, fault)
		}
	}()
	return errors.Join(RunChaos(seed, nil), Trial(seed))
}

// Trial runs applications with deadlines and without through faults that take away all
// that can be: planner and its state, the bus, links, node controllers, executors, what
// is saved, the time of day. In a third of the worlds, drawn by the seed, memory is short, so
// that some wait for others, and it moves (scarceTrial); half of these draw a rule of the queue,
// too, and half of the others lend memory. Its error is the first invariant that was broken, with the seed. It is
// safe for concurrent use.
func Trial(seed uint64) error {
	if des.Random(seed, "scarce?").IntN(3) == 0 {
		if rule := des.Random(seed, "rule"); rule.IntN(2) == 0 {
			return scarceTrial(seed, rule, nil)
		}
		if lend := des.Random(seed, "lend"); lend.IntN(2) == 0 {
			return scarceTrial(seed, nil, lend)
		}
		return scarceTrial(seed, nil, nil)
	}
	return ampleTrial(seed)
}

// ampleTrial is Trial where there is memory for everybody.
func ampleTrial(seed uint64) error {
	w, err := trialWorld(trialConfig(seed))
	if err != nil {
		return err
	}
	r := des.Random(seed, "trial")
	start := w.Now()
	for i := range 4 {
		a := trialApp([]string{"known", "new"}[r.IntN(2)])
		if r.IntN(4) > 0 {
			a.Deadline = units.Seconds(400 + 1200*r.Float64())
		}
		if _, err := w.Submit(start+units.Seconds(float64(i)*150*r.Float64()), a); err != nil {
			return err
		}
	}
	if err := w.rain(mishaps(), units.Seconds(15+30*r.Float64()), start+900); err != nil {
		return err
	}
	return w.toTheEnd()
}

// trialWorld is a world whose planner knows trialApp.
func trialWorld(c Config) (*World, error) {
	p, err := trialProfile()
	if err != nil {
		return nil, err
	}
	w, err := New(c)
	if err != nil {
		return nil, err
	}
	return w, w.PutProfile(p)
}

// toTheEnd runs w until all have ended, of whom nobody may be refused but by the user, or who came
// while nodes gave less memory.
func (w *World) toTheEnd() error {
	if err := w.Run(); err != nil {
		return err
	}
	for _, d := range w.drivers {
		if d.refused != nil && !d.unwanted && !d.unlucky {
			w.fail("application %s is refused: %v", d.spark.Submission, d.refused)
		}
	}
	return w.err
}
