package main

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// slowRuns is how often an application is held to its deadline beside a slow node, slowSize its size: about 60
	// s there.
	slowRuns, slowSize = 5, "0.6"
	// slowSpeed is how much of its speed the slow node has.
	slowSpeed = 1.0 / 3
)

// slowed measures deadlines on two nodes of one executor each, of which one is at a third of its speed: a quota
// around all its executors, of which its node controller knows nothing, gives it that. The deadline is 1.4 times
// what the recorded run took there.
func slowed(t testing.TB, add adder, runs int) {
	want := realenv.Stock(t, app, slowSize)
	s := realenv.NewOn(t, realenv.NewNetwork(t, "full", "slow"))
	s.StartPlanner()
	s.StartNamed("full", waitedNode...)
	s.StartNamed("slow", waitedNode...)
	realenv.SlowDown(t, "slow", slowSpeed*0.9)
	run := func(flags ...string) (*realenv.Process, api.AppDetail) {
		p, ran := finished(t, s, slices.Concat(flags, []string{app, slowSize}))
		if got := p.Answer(); got != want {
			t.Fatalf("it answers\n%s\nstock Spark\n%s", got, want)
		}
		return p, ran
	}
	recorded, record := run()
	profile := profileOf(t, s, record.Profile)
	t.Logf("recorded in %.1f s", recorded.Took().Seconds())
	flags, deadline := deadlineAt(liveSlack*recorded.Took().Seconds(), sqlCertainty)
	var errs []float64
	for range runs {
		putProfile(t, s, profile)
		p, a := run(flags...)
		r := outcome{wall: p.Took().Seconds(), deadline: deadline}
		pct, _ := r.errorPct()
		errs = append(errs, pct)
		_, why := s.Pacer("why", string(a.ID))
		t.Logf("%.2f s, due after %.2f s: %+.2f %%, %s; notices %q\n%s", r.wall, deadline, pct, a.Pacing, a.Notices, why)
	}
	median := benchline.Median(errs)
	median.Each = errs
	add("slow_node.exit_error_pct", median, "%")
	add("slow_node.late", lateOf(errs), "runs")
}
