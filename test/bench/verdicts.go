package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/units"
)

// Verdicts are measured on so many applications of the source, which come at random with so
// many times the work that the cluster can do. A deadline is up to so many times what its
// application takes alone.
const (
	verdictArrivals = 40
	verdictLoad     = 1.5
	verdictSeeds    = 5
	verdictTightest = 1.2
	verdictLoosest  = 5.0
)

// spareMost is what an infeasible application may have of its deadline to spare, in per cent.
const spareMost = 5

// verdicts measures in the simulator what verdicts are worth: how many of the applications
// that were called feasible when they came are in time, and how many of those that were
// called infeasible had more than spareMost to spare: beside what the others have been
// promised, and if the others could wait as long as they are in time. Besides, how many of all
// are in time under each strategy.
func verdicts(t testing.TB, add adder) {
	for _, strategy := range supervisor.Strategies() {
		var met []float64
		for seed := range uint64(verdictSeeds) {
			of := 0.0
			for _, c := range arrive(t, seed+1, strategy) {
				if c.met {
					of++
				}
			}
			met = append(met, of)
		}
		add("verdict.met."+strategy, benchline.Mean(met), "applications")
	}
	var ratios, feasible, steps, turns []float64
	for seed := range uint64(verdictSeeds) {
		called, met := 0.0, 0.0
		for _, c := range arrive(t, seed+1, supervisor.Default().Strategy) {
			switch c.verdict {
			case api.VerdictFeasible:
				if called++; c.met {
					met++
				}
			case api.VerdictInfeasible:
				steps, turns = append(steps, c.steps), append(turns, c.turns)
			}
		}
		t.Logf("seed %d: %v of %v feasible are met", seed+1, met, called)
		if called > 0 {
			ratios = append(ratios, met/called)
		}
		feasible = append(feasible, called)
	}
	if len(ratios) == 0 || len(steps) == 0 {
		t.Fatalf("%d feasible and %d infeasible applications", len(ratios), len(steps))
	}
	spare := func(margin float64) bool { return margin > spareMost }
	add("verdict.feasible_met_ratio", benchline.Mean(ratios), "ratio")
	add("verdict.feasible", benchline.Mean(feasible), "applications")
	add("verdict.infeasible_spare", countOf(steps, spare), "applications")
	add("verdict.infeasible_spare.turns", countOf(turns, spare), "applications")
	add("verdict.infeasible_margin_pct", benchline.Quantile(steps, 1), "%")
}

// known is an application, with what it takes alone and uses then.
type known struct {
	app         plant.App
	takes, work float64
}

// comer is an application that has come.
type comer struct {
	known
	driver  *sim.Driver
	at, due float64
	id      api.AppID
	verdict api.Verdict
	// used is what those that ran when it came had used until then, in core-seconds.
	used map[api.AppID]float64
	// What came of it: total is what it used in all. Of its deadline so much was to spare when
	// it came, in per cent, by besideSteps and by inTurns.
	met          bool
	total        float64
	steps, turns float64
}

// arrive has applications come at random, and end, where cores are divided by that strategy.
func arrive(t testing.TB, seed uint64, strategy string) []*comer {
	t.Helper()
	cfg := sim.Default()
	cfg.Seed, cfg.Node.Supervisor.Strategy = seed, strategy
	w, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cores := 0.0
	for _, n := range cfg.Nodes {
		cores += float64(n.Cores)
	}
	all, mean := knownApps(t, cfg, w)
	random := rand.New(rand.NewPCG(seed, verdictArrivals))
	var come []*comer
	for range verdictArrivals {
		k := all[random.IntN(len(all))]
		k.app.Deadline = units.Seconds(k.takes * (verdictTightest + (verdictLoosest-verdictTightest)*random.Float64()))
		come = append(come, newComer(t, w, k))
		if err := w.Pass(units.Seconds(random.ExpFloat64() * mean / cores / verdictLoad).Duration()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range come {
		o, err := c.driver.Outcome()
		if err != nil {
			t.Fatal(err)
		}
		c.met, c.total = o.Error >= 0, o.CoreSeconds
	}
	for i, c := range come {
		promised, comes := promisedTo(come[:i], c), job{at: c.at, takes: c.work}
		margin := func(end float64) float64 { return 100 * (c.due - end) / (c.due - c.at) }
		c.steps, c.turns = margin(besideSteps(promised, comes, cores, c.takes)),
			margin(inTurns(promised, comes, cores, c.takes))
	}
	return come
}

// knownApps are the source's applications, whose profiles the world is given, and the mean
// of their work.
func knownApps(t testing.TB, cfg sim.Config, w *sim.World) (all []known, mean float64) {
	t.Helper()
	for _, app := range paper.Workloads() {
		p, o, err := sim.Record(cfg, app)
		if err == nil {
			err = w.PutProfile(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, known{app, float64(o.Duration), o.CoreSeconds})
		mean += o.CoreSeconds
	}
	return all, mean / float64(len(all))
}

// newComer has an application come, and waits a moment for its verdict.
func newComer(t testing.TB, w *sim.World, k known) *comer {
	t.Helper()
	c := &comer{known: k, at: float64(w.Now()), due: float64(w.Now() + k.app.Deadline), used: map[api.AppID]float64{}}
	there := map[api.AppID]bool{}
	for _, a := range w.Apps() {
		there[a.ID] = true
		if a.State == api.AppRunning {
			c.used[a.ID] = float64(a.CoreSeconds)
		}
	}
	var err error
	if c.driver, err = w.Submit(w.Now(), k.app); err != nil {
		t.Fatal(err)
	}
	if err := w.Pass(time.Second); err != nil {
		t.Fatal(err)
	}
	for _, a := range w.Apps() {
		if !there[a.ID] {
			c.id, c.verdict = a.ID, a.Verdict
		}
	}
	if c.id == "" {
		t.Fatalf("no application %s has come", k.app.Name)
	}
	return c
}

// promisedTo is what was left, when c came, of the applications that had been promised to
// be in time: as large a part of what each uses alone as it turned out to use from then on.
// An application may use less where it has fewer cores, which nobody is to count on.
func promisedTo(earlier []*comer, c *comer) []job {
	var jobs []job
	for _, e := range earlier {
		used, running := c.used[e.id]
		if running && e.verdict != api.VerdictInfeasible && e.due > c.at {
			jobs = append(jobs, job{at: c.at, takes: e.work * max(0, 1-used/e.total), due: e.due})
		}
	}
	return jobs
}
