package main

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/test/benchline"
)

// lookSeconds is for how long it is counted, in virtual time, how many runs are predicted for those who look, after the
// first look.
const lookSeconds = 120

// looks counts the predictions that are made for pages that are open, which ask once a second however many there are,
// and for a scrape each 15 s, of 1,000 applications with 100 stage events a second.
func looks(t testing.TB, add adder) {
	c := newCluster(t, clusterSize{nodes: 1000, apps: 1000, spread: 4})
	c.join()
	c.kept = &report.Kept{}
	since := uint64(0)
	look := func() {
		reply, _, _ := c.step(planner.Look{To: 1, Since: since})
		changes, ok := reply.(api.Changes)
		if !ok {
			t.Fatalf("look: %+v", reply)
		}
		since = changes.Version
	}
	look()
	made := make([]float64, 0, lookSeconds)
	for s := range lookSeconds {
		c.second()
		before := c.kept.Made()
		look()
		if s%15 == 0 && c.running() != c.of.apps {
			t.Fatalf("%d applications run, want %d", c.running(), c.of.apps)
		}
		made = append(made, float64(c.kept.Made()-before))
	}
	add("look.predictions_per_s", benchline.Mean(made), "predictions/s")
}
