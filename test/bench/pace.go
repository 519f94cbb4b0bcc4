package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/nextrun"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/units"
)

// paceSeeds is how many applications are drawn, paceStages about how many stages the run of one has at most, and
// paceSlack how many times their runs at all cores their deadlines are.
const (
	paceSeeds  = 500
	paceStages = 40
	paceSlack  = 1.3
)

// paceBefore are the errors of unchanged runs, by seed, at commit 77b441e: before stages that a profile lacks
// were planned.
//
//go:embed testdata/pace-before.json
var paceBefore []byte

// paceRows are about deadlines of runs that differ from their profile, in virtual time.
func paceRows() []row {
	return []row{{name: "pace", minutes: 2, measure: paceMeasured}}
}

// pacedRun is what came of an application that had a deadline: its error, the part of its work that its profile
// has, and whether its targets were paused.
type pacedRun struct {
	error, known float64
	paused       bool
}

// paceWorld is a world of two nodes of four cores.
func paceWorld(seed uint64) sim.Config {
	c := sim.Default()
	c.Seed, c.Nodes = seed, []sim.NodeSpec{{Name: "n1", Cores: 4}, {Name: "n2", Cores: 4}}
	return c
}

// appOf is an application whose run is as r's next one.
func appOf(r nextrun.Runs) plant.App {
	a := plant.App{Name: "paced", Head: r.Next.Head, Tail: r.Next.Tail, Exit: r.Next.Exit}
	for i, s := range r.Next.Stages {
		said := r.Ready(i)
		a.Stages = append(a.Stages, plant.Stage{Name: s.Name, Job: s.Job, Parents: s.Parents, Tasks: s.Tasks,
			Work: s.CoreSeconds, Records: s.Records, Written: s.RecordsWritten, Gap: s.Gap, Said: &said})
	}
	return a
}

// leastPaced and mostPaced are what runs take, in core-seconds: less is over before a deadline means anything.
const leastPaced, mostPaced units.Work = 50, 4000

// drawRuns draws until both runs are neither too short nor too long.
func drawRuns(r *rand.Rand) nextrun.Runs {
	for {
		stages := 5 + r.IntN(paceStages)
		runs := nextrun.Draw(r, stages, nextrun.DrawChanges(r)...)
		one, two := runs.Known.Work(), runs.Next.Work()
		if min(one, two) >= leastPaced && max(one, two) <= mostPaced {
			return runs
		}
	}
}

// paceOne records the run of an application, and paces the next one: the same, or one that is changed.
func paceOne(seed uint64, changed bool) (pacedRun, error) {
	runs := drawRuns(rand.New(rand.NewPCG(seed, 1)))
	profile, alone, err := sim.Record(paceWorld(seed), appOf(runs.First()))
	if err != nil {
		return pacedRun{}, fmt.Errorf("seed %d: the first run: %w", seed, err)
	}
	next := appOf(runs.First())
	if changed {
		next = appOf(runs)
		if _, alone, err = sim.Record(paceWorld(seed+1e6), next); err != nil {
			return pacedRun{}, fmt.Errorf("seed %d: the next run at all cores: %w", seed, err)
		}
	}
	next.Deadline = paceSlack * alone.Duration
	w, err := sim.New(paceWorld(seed + 2e6))
	if err != nil {
		return pacedRun{}, err
	}
	if err := w.PutProfile(profile); err != nil {
		return pacedRun{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	d, err := w.Submit(0, next)
	if err != nil {
		return pacedRun{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	if err := w.Run(); err != nil {
		return pacedRun{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	o, err := d.Outcome()
	if err != nil {
		return pacedRun{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	out := pacedRun{error: o.Error, known: knownPart(runs)}
	for _, n := range d.Result().Notices {
		out.paused = out.paused || strings.Contains(n, "all cores until it is half")
	}
	return out, nil
}

// knownPart is how much of the work of the next run its profile has.
func knownPart(r nextrun.Runs) float64 {
	var known, all units.Work
	for i, s := range r.Next.Stages {
		all += s.CoreSeconds
		if r.Truth[i] != nextrun.New {
			known += s.CoreSeconds
		}
	}
	return float64(known / all)
}

// paceMeasured measures what a deadline is worth to runs that differ from their profile, and to the same runs
// as before.
func paceMeasured(t testing.TB, add adder) {
	var before []float64
	if err := json.Unmarshal(paceBefore, &before); err != nil {
		t.Fatal(err)
	}
	var sizes, late, paused, worse []float64
	for seed := range uint64(paceSeeds) {
		if t.Context().Err() != nil {
			t.Fatal("interrupted")
		}
		r, err := paceOne(seed, true)
		if err != nil {
			t.Fatal(err)
		}
		sizes, late = append(sizes, math.Abs(r.error)), append(late, percent(r.error < 0))
		if r.known >= 0.5 {
			paused = append(paused, percent(r.paused))
		}
	}
	for seed, was := range before {
		r, err := paceOne(uint64(seed), false)
		if err != nil {
			t.Fatal(err)
		}
		worse = append(worse, math.Abs(r.error)-math.Abs(was))
	}
	add("pace.changed.late_pct", benchline.Mean(late), "%")
	add("pace.changed.mean_abs_error_pct", benchline.Mean(sizes), "%")
	add("match.paused_pct", benchline.Mean(paused), "%")
	add("pace.same.worse_points", benchline.Mean(worse), "points")
}

// percent is 100 for true: the mean of many is a share.
func percent(is bool) float64 {
	if is {
		return 100
	}
	return 0
}
