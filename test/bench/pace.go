package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
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
	used         float64 // Core-seconds, over those of the run at all cores.
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

// drawRuns draws until both runs are neither too short nor too long, with that many earlier runs of the application,
// which have changes of their own.
func drawRuns(seed uint64, earlier int) (nextrun.Runs, []nextrun.Runs) {
	r := rand.New(rand.NewPCG(seed, 1))
	for {
		stages := 5 + r.IntN(paceStages)
		var others []*rand.Rand
		for k := range earlier {
			others = append(others, rand.New(rand.NewPCG(seed, uint64(1000+k))))
		}
		runs, before := nextrun.DrawWith(r, others, stages, nextrun.DrawChanges(r)...)
		one, two := runs.Known.Work(), runs.Next.Work()
		if min(one, two) >= leastPaced && max(one, two) <= mostPaced {
			return runs, before
		}
	}
}

// How the next run differs from the profile.
const (
	paceSame     = "same"
	paceChanged  = "changed"
	paceShuffled = "shuffled" // The same jobs in any order.
)

// pacedBy is how runs are paced: how they differ, after how many earlier runs, and how sure they are to be in time.
type pacedBy struct {
	next      string
	earlier   int
	certainty units.Fraction
}

// one records the run of an application, and paces the next one.
func (p pacedBy) one(seed uint64) (pacedRun, error) {
	runs, before := drawRuns(seed, p.earlier)
	out, err := p.run(seed, runs, before)
	if err != nil {
		return pacedRun{}, fmt.Errorf("seed %d, %+v: %w", seed, p, err)
	}
	return out, nil
}

func (p pacedBy) run(seed uint64, runs nextrun.Runs, before []nextrun.Runs) (pacedRun, error) {
	profile, alone, err := sim.Record(paceWorld(seed), appOf(runs.First()))
	if err != nil {
		return pacedRun{}, fmt.Errorf("the first run: %w", err)
	}
	// What earlier runs had besides the first one; their profile stays that of the first.
	for _, other := range before {
		if p.next != paceChanged {
			other.Next = runs.Known // They were alike, too.
		}
		seen := profiles.Merge(runs.Known, other.Next, profiles.Terms{}).Residuals
		profile.Residuals = append(seen[:1], profile.Residuals...)
	}
	next := appOf(runs.First())
	switch p.next {
	case paceChanged:
		next = appOf(runs)
	case paceShuffled:
		next.Stages = inAnyOrder(rand.New(rand.NewPCG(seed, 2)), next.Stages)
	}
	if p.next != paceSame {
		if _, alone, err = sim.Record(paceWorld(seed+1e6), next); err != nil {
			return pacedRun{}, fmt.Errorf("the next run at all cores: %w", err)
		}
	}
	next.Deadline = paceSlack * alone.Duration
	c := paceWorld(seed + 2e6)
	c.Certainty = p.certainty
	w, err := sim.New(c)
	if err != nil {
		return pacedRun{}, err
	}
	if err := w.PutProfile(profile); err != nil {
		return pacedRun{}, err
	}
	d, err := w.Submit(0, next)
	if err != nil {
		return pacedRun{}, err
	}
	if err := w.Run(); err != nil {
		return pacedRun{}, err
	}
	o, err := d.Outcome()
	if err != nil {
		return pacedRun{}, err
	}
	out := pacedRun{error: o.Error, known: knownPart(runs), used: o.CoreSeconds / alone.CoreSeconds}
	for _, n := range d.Result().Notices {
		out.paused = out.paused || strings.Contains(n, "all cores until it is half")
	}
	return out, nil
}

// inAnyOrder are the stages of an application whose jobs come in another order: those that read from each other
// keep theirs.
func inAnyOrder(r *rand.Rand, stages []plant.Stage) []plant.Stage {
	var groups [][]int
	of := make([]int, len(stages)) // The group of each stage: that of its job, with all that it reads from.
	for i, s := range stages {
		at := -1
		if i > 0 && stages[i-1].Job == s.Job {
			at = of[i-1]
		}
		for _, parent := range s.Parents {
			if at < 0 {
				at = of[parent]
			}
		}
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		of[i], groups[at] = at, append(groups[at], i)
	}
	r.Shuffle(len(groups), func(i, k int) { groups[i], groups[k] = groups[k], groups[i] })
	var out []plant.Stage
	job, place := 0, make([]int, len(stages))
	for _, group := range groups {
		for n, i := range group {
			s := stages[i]
			if n > 0 && s.Job != stages[group[n-1]].Job {
				job++
			}
			place[i] = len(out)
			s.Job, s.Parents = job, slices.Clone(s.Parents)
			for k, parent := range s.Parents {
				s.Parents[k] = place[parent]
			}
			if s.Said != nil {
				said := *s.Said
				said.Job, said.Parents, said.Stage = job, s.Parents, len(out)
				s.Said = &said
			}
			out = append(out, s)
		}
		job++
	}
	return out
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

// pacedRuns are what came of many.
type pacedRuns struct{ late, by3, sizes, early, used, paused []float64 }

func (p pacedBy) many(t testing.TB, seeds int) (all pacedRuns) {
	for seed := range uint64(seeds) {
		if t.Context().Err() != nil {
			t.Fatal("interrupted")
		}
		r, err := p.one(seed)
		if err != nil {
			t.Fatal(err)
		}
		all.late, all.by3 = append(all.late, percent(r.error < 0)), append(all.by3, percent(r.error < -3))
		all.sizes, all.used = append(all.sizes, math.Abs(r.error)), append(all.used, r.used)
		if r.error >= 0 {
			all.early = append(all.early, r.error)
		}
		if r.known >= 0.5 {
			all.paused = append(all.paused, percent(r.paused))
		}
	}
	return all
}

// paceMeasured measures what a deadline is worth to runs that differ from their profile, and to the same runs
// as before: by the equations alone, and with what is kept after some earlier runs for what nobody foresees.
func paceMeasured(t testing.TB, add adder) {
	var before []float64
	if err := json.Unmarshal(paceBefore, &before); err != nil {
		t.Fatal(err)
	}
	even := pacedBy{paceChanged, 0, api.LeastCertainty}.many(t, paceSeeds)
	add("pace.changed.late_pct", benchline.Mean(even.late), "%")
	add("pace.changed.mean_abs_error_pct", benchline.Mean(even.sizes), "%")
	add("match.paused_pct", benchline.Mean(even.paused), "%")
	for _, p := range []pacedBy{{paceChanged, 1, api.UsualCertainty}, {paceChanged, 3, api.UsualCertainty},
		{paceChanged, 8, api.UsualCertainty}, {paceChanged, 20, 0.9}, {paceChanged, 20, api.UsualCertainty}} {
		all := p.many(t, paceSeeds)
		name := fmt.Sprintf("pace.changed.%d.%.0f.", p.earlier, 100*float64(p.certainty))
		add(name+"late_pct", benchline.Mean(all.late), "%")
		add(name+"late_by_3_pct", benchline.Mean(all.by3), "%")
		add(name+"mean_early_pct", benchline.Mean(all.early), "%")
		for i := range all.used {
			all.used[i] /= even.used[i]
		}
		add(name+"core_seconds", benchline.Mean(all.used), "x")
	}
	var worse []float64
	for seed, was := range before {
		r, err := pacedBy{paceSame, 0, api.LeastCertainty}.one(uint64(seed))
		if err != nil {
			t.Fatal(err)
		}
		worse = append(worse, math.Abs(r.error)-math.Abs(was))
	}
	add("pace.same.worse_points", benchline.Mean(worse), "points")
	for _, earlier := range []int{0, 2, 9} { // After one, three and ten runs.
		all := pacedBy{paceSame, earlier, api.UsualCertainty}.many(t, len(before))
		name := fmt.Sprintf("pace.same.%d.", earlier+1)
		add(name+"mean_abs_error_pct", benchline.Mean(all.sizes), "%")
		add(name+"late_pct", benchline.Mean(all.late), "%")
	}
	all := pacedBy{paceShuffled, 0, api.UsualCertainty}.many(t, len(before))
	add("pace.shuffled.late_pct", benchline.Mean(all.late), "%")
	late, wrong := nights(t)
	add("pace.grown.late_pct", benchline.Mean(late), "%")
	add("pace.grown.wrongly_feasible", benchline.Sum(wrong), "nights")
}

// nightsPaced is how many nights a job is paced that reads 2 % more each night.
const nightsPaced = 60

// nights paces a job each night by one deadline: which of the nights ended late in which all cores could have kept it,
// and which of the others were called feasible.
func nights(t testing.TB) (late, wrong []float64) {
	c := paceWorld(7)
	c.Certainty = api.UsualCertainty
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	app := plant.App{Name: "nightly", Head: 3, Tail: 1, Exit: 0.5}
	for i := range 4 {
		app.Stages = append(app.Stages, plant.Stage{Name: fmt.Sprint("s", i), Job: i, Tasks: 64, Work: 80, Records: 1e6,
			Written: 3e5, Gap: 0.3})
	}
	by := 1.0
	for night := range nightsPaced {
		a := app.Grown(by)
		_, alone, err := sim.Record(paceWorld(uint64(8+night)), a)
		if err != nil {
			t.Fatal(err)
		}
		if night > 0 {
			a.Deadline = 90
		}
		d, err := w.Submit(w.Now()+10, a)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(); err != nil {
			t.Fatal(err)
		}
		o, err := d.Outcome()
		if err != nil {
			t.Fatal(err)
		}
		switch can := alone.Duration <= a.Deadline; {
		case night == 0:
		case can:
			late = append(late, percent(o.Error < 0))
		default:
			wrong = append(wrong, percent(o.Verdict == api.VerdictFeasible)/100)
		}
		by *= 1.02
	}
	return late, wrong
}

// percent is 100 for true: the mean of many is a share.
func percent(is bool) float64 {
	if is {
		return 100
	}
	return 0
}
