package unknown

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim"
)

// Count is how many applications there are of a kind, and how many of these are in time.
type Count struct {
	All int `json:"all"`
	Met int `json:"met"`
}

// add counts an application.
func (c *Count) add(met bool) {
	c.All++
	if met {
		c.Met++
	}
}

// Trace is what became of the applications of one trace: of all, of those that are new, of these those for which
// cores were reserved, and of known ones those whose deadline the planner called feasible when they came.
type Trace struct {
	Any      Count `json:"any"`
	New      Count `json:"new"`
	Reserved Count `json:"reserved"`
	Feasible Count `json:"feasible"`
}

// Case is what an admission gave under a load, a Trace for each seed.
type Case struct {
	Load      string  `json:"load"` // One of Loads.
	Admission string  `json:"admission"`
	Traces    []Trace `json:"traces"`
}

// Options say how the table is made.
type Options struct {
	// Seeds is how many traces are run, 12 if 0. Stop, when it is closed, ends it (sim.Config.Stop).
	Seeds int
	Stop  <-chan struct{}
}

// Table is what all admissions gave.
type Table struct {
	Title   string   `json:"title"`
	Cases   []Case   `json:"cases"`
	Figures []Figure `json:"figures"`
}

// Run runs the traces of as many seeds under each admission, those of an admission side by side. The same Options give
// the same Table.
func Run(o Options) (Table, error) {
	t := Table{Title: fmt.Sprintf("%d applications with deadlines on 4 nodes of 16 cores, half of them new, by admission",
		count)}
	known, err := runAlone(o.config(0, assign.Open))
	if err != nil {
		return t, err
	}
	for _, load := range Loads() {
		var cases []Case
		for _, by := range assign.Admissions() {
			c := Case{load, by, make([]Trace, cmp.Or(o.Seeds, 12))}
			faults, running := make([]error, len(c.Traces)), sync.WaitGroup{}
			for i := range c.Traces {
				running.Go(func() { c.Traces[i], faults[i] = run(o.config(uint64(i), by), known, load) })
			}
			running.Wait()
			if err := errors.Join(faults...); err != nil {
				return t, fmt.Errorf("%s: %w", by, err)
			}
			cases = append(cases, c)
		}
		t.Cases, t.Figures = append(t.Cases, cases...), append(t.Figures, figures(cases)...)
	}
	return t, nil
}

func (o Options) config(seed uint64, admission string) sim.Config {
	c := sim.Default()
	c.Seed, c.Stop, c.Planner.Queue.Admission = 1000*(seed+1), o.Stop, admission
	return c
}

// cores are those of all nodes.
func cores(c sim.Config) (all float64) {
	for _, n := range c.Nodes {
		all += float64(n.Cores)
	}
	return all
}

// run runs the trace of c's seed under a load.
func run(c sim.Config, known []alone, load string) (t Trace, fault error) {
	w, err := sim.New(c)
	if err != nil {
		return t, err
	}
	for _, k := range known {
		p := k.profile
		p.Stages = slices.Clone(p.Stages) // A planner may change what it is given.
		if err := w.PutProfile(p); err != nil {
			return t, err
		}
	}
	all, drivers := trace(c.Seed, known, cores(c), load), []*sim.Driver(nil)
	for _, a := range all {
		d, err := w.Submit(w.Now()+a.at, a.app)
		if err != nil {
			return t, err
		}
		drivers = append(drivers, d)
	}
	if err := w.Run(); err != nil {
		return t, err
	}
	for i, d := range drivers {
		o, err := d.Outcome()
		if err != nil {
			fault = errors.Join(fault, err)
			continue
		}
		met := o.Error >= 0
		t.Any.add(met)
		switch {
		case all[i].new:
			t.New.add(met)
			if o.Reserved {
				t.Reserved.add(met)
			}
		case o.Verdict == api.VerdictFeasible:
			t.Feasible.add(met)
		}
	}
	return t, fault
}
